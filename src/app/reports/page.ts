/** Returns one self-contained HTML page: no script, no font, no external address. Light or dark as the reader prefers. */
export function page(title: string, body: readonly string[], moreStyle = ''): string {
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<title>${text(title)}</title>
<style>${style}${moreStyle}</style>
</head>
<body><main>
${body.join('\n')}
</main></body>
</html>
`
}

export function section(title: string, content: string): string {
  return `<section><h2>${text(title)}</h2>${content}</section>`
}

export function figure(name: string, value: string): string {
  return `<div><dt>${text(name)}</dt><dd>${text(value)}</dd></div>`
}

export function count(value: number): string {
  return value.toLocaleString('en-US')
}

const entities: Record<string, string> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
}

/** Returns a text as HTML shows it. */
export function text(value: string): string {
  return value.replace(/[&<>"']/g, (character) => entities[character] as string)
}

const style = `
:root { --ink: #1d232b; --soft: #5a6573; --paper: #ffffff; --line: #d9dee4; --bar: #1f6f54 }
@media (prefers-color-scheme: dark) { :root { --ink: #e6eaef; --soft: #a3adba; --paper: #14181d; --line: #333b45; --bar: #56b890 } }
* { box-sizing: border-box }
body { margin: 0; background: var(--paper); color: var(--ink); font: 16px/1.5 system-ui, sans-serif }
main { max-width: 860px; margin: 0 auto; padding: 24px 16px 64px }
h1 { font-size: 1.6rem; margin: 0 }
h2 { font-size: 1.15rem; margin: 40px 0 12px }
header p { color: var(--soft); margin: 4px 0 24px }
.figures { display: grid; grid-template-columns: repeat(auto-fit, minmax(150px, 1fr)); gap: 16px 24px; margin: 0 }
.figures div { border-top: 2px solid var(--line); padding-top: 8px }
dt { color: var(--soft); font-size: .9rem }
dd { margin: 0; font-size: 1.25rem; font-variant-numeric: tabular-nums }
.bars { list-style: none; margin: 0; padding: 0; max-width: 720px }
.bars li { display: grid; grid-template-columns: minmax(0, 15rem) minmax(0, 1fr) 6rem; gap: 12px; align-items: center; padding: 4px 0 }
.bars .name, .bars .value { overflow-wrap: anywhere; line-height: 1.3 }
.bars .value { color: var(--soft); font-variant-numeric: tabular-nums }
.bars svg { display: block; width: 100%; height: 16px }
.bars rect { fill: var(--bar) }
.scroll { overflow-x: auto; margin-top: 16px }
table { border-collapse: collapse; width: 100%; font-size: .9rem }
th, td { text-align: left; vertical-align: top; padding: 6px 12px 6px 0; border-bottom: 1px solid var(--line); white-space: nowrap }
td.words { white-space: normal; overflow-wrap: anywhere; min-width: 7rem; max-width: 24rem }
th.number, td.number { text-align: right; font-variant-numeric: tabular-nums }
@media (max-width: 560px) {
  .bars li { grid-template-columns: minmax(0, 1fr) 6rem; gap: 2px 12px }
  .bars .name { grid-column: 1 / -1 }
}
@page { margin: 15mm }
@media print {
  /* A reader whose screen is dark prints on white paper too. */
  :root { color-scheme: light; --ink: #000000; --soft: #444444; --paper: #ffffff; --line: #bbbbbb; --bar: #1f6f54 }
  body { font-size: 10.5pt }
  main { max-width: none; padding: 0 }
  h2 { break-after: avoid; margin-top: 24px }
  li, tr, .figures div { break-inside: avoid }
  thead { display: table-header-group }
  .scroll { overflow: visible }
  /* Paper does not scroll: words wrap into its width, numbers stay whole. */
  table { font-size: 8pt }
  th, td, td.words { min-width: 0; padding-right: 6px }
  th.words { white-space: normal }
}
`
