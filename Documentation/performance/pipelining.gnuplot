# SPDX-License-Identifier: GPL-2.0-or-later
set terminal svg size 640,360 noenhanced font 'sans-serif,13' background 'white'
set output 'pipelining.svg'
set title 'Reads with protection information, one at a time'
set xlabel 'delay of each packet, ms'
set ylabel 'latency, 10th percentile, ms'
set yrange [0:*]
set grid
set key left top
set style data linespoints
plot 'pipelining.dat' using 1:2 linewidth 2 pointtype 7 title 'without pipelining', \
     '' using 1:3 linewidth 2 pointtype 7 title 'with pipelining'
