# SPDX-License-Identifier: GPL-2.0-or-later
set terminal svg size 720,380 noenhanced font 'sans-serif,13' background 'white'
set output 'polling.svg'
set title 'Waits of a CQ that is mostly idle, 99th percentile'
set ylabel 'µs'
set logscale y
set yrange [10:*]
set xtics rotate by -20
set style data histogram
set style histogram clustered gap 1
set style fill solid 0.8 border -1
set grid ytics
set key outside right
plot 'polling.dat' using 2:xtic(1) title '7 full CQs, done() of 20 µs', '' using 3 title '7 full CQs, done() of 5 to 100 µs'
