/* Draws the table of days with uPlot. The table is the only source of the data. */
;(() => {
  const holder = document.getElementById('spend-chart')
  const table = document.getElementById('spend-days')
  if (!holder || !table || typeof uPlot === 'undefined') return
  const rows = [...table.querySelectorAll('[data-day]')]
  if (rows.length === 0) return
  const numbers = (name) => rows.map((row) => Number(row.dataset[name]))
  const data = [rows.map((row) => Date.parse(row.dataset.day) / 1000), numbers('settled'), numbers('lost')]
  let chart

  function draw() {
    const style = getComputedStyle(document.documentElement)
    const color = (name) => style.getPropertyValue(name).trim()
    const axis = {
      stroke: color('--muted'),
      grid: { stroke: color('--line'), width: 1 },
      ticks: { show: false },
      font: '12px ' + style.getPropertyValue('--font'),
    }
    const bars = uPlot.paths.bars({ size: [0.6, 44], radius: 0.15 })
    if (chart) chart.destroy()
    chart = new uPlot(
      {
        width: holder.clientWidth,
        height: 220,
        cursor: { drag: { x: false, y: false }, points: { show: false } },
        legend: { live: true },
        scales: {
          x: { time: true, range: (_, min, max) => [min - 43200, max + 43200] },
          y: { range: (_, __, max) => [0, max > 0 ? max * 1.15 : 1] },
        },
        tzDate: (ts) => uPlot.tzDate(new Date(ts * 1000), 'Etc/UTC'),
        axes: [
          {
            ...axis,
            grid: { show: false },
            space: 48,
            values: (_, splits) =>
              splits.map((ts) =>
                new Date(ts * 1000).toLocaleDateString('en-GB', {
                  day: 'numeric',
                  month: 'short',
                  timeZone: 'UTC',
                }),
              ),
            incrs: [1, 2, 5, 10, 15].map((days) => days * 86400),
          },
          { ...axis, size: 62, values: (_, splits) => splits.map((value) => '$' + value.toFixed(2)) },
        ],
        series: [
          {
            value: (_, ts) =>
              ts === null || ts === undefined ? '–' : new Date(ts * 1000).toISOString().slice(0, 10),
            label: 'Day (UTC)',
          },
          {
            label: 'Settled',
            fill: color('--accent'),
            stroke: color('--accent'),
            width: 0,
            paths: bars,
            points: { show: false },
            value: (_, value) => (value === null || value === undefined ? '–' : '$' + value.toFixed(6)),
          },
          {
            label: 'Lost',
            fill: color('--danger'),
            stroke: color('--danger'),
            width: 0,
            paths: bars,
            points: { show: false },
            value: (_, value) => (value === null || value === undefined ? '–' : '$' + value.toFixed(6)),
          },
        ],
      },
      data,
      holder,
    )
    holder.dataset.drawn = 'yes'
  }

  draw()
  let width = holder.clientWidth
  new ResizeObserver(() => {
    if (holder.clientWidth === width) return
    width = holder.clientWidth
    chart.setSize({ width, height: 220 })
  }).observe(holder)
  matchMedia('(prefers-color-scheme: dark)').addEventListener('change', draw)
})()
