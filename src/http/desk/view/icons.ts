import { raw } from 'hono/html'

/** Drawn on a 20 by 20 grid. Icons inherit the colour of the text next to them and are hidden from screen readers. */
const paths = {
  now: '<path d="M2 10h3.5l2.2-6 4.2 12 2.3-6H18"/>',
  runs: '<path d="M7 5h10M7 10h10M7 15h10"/><path d="M3 5h.01M3 10h.01M3 15h.01"/>',
  lists:
    '<path d="M3 4.500h2v2H3zM3 9h2v2H3zM3 13.500h2v2H3z"/><path d="M8.500 5.500h8M8.500 10h8M8.500 14.500h5"/>',
  signals: '<path d="M3 17V13M8 17V9M13 17V11M18 17V4"/><path d="m14.500 5.500 3.500-2"/>',
  monitors:
    '<path d="M1.800 10S5 4.500 10 4.500 18.200 10 18.200 10 15 15.500 10 15.500 1.800 10 1.800 10z"/><circle cx="10" cy="10" r="2.600"/>',
  champions:
    '<circle cx="7.500" cy="6.500" r="3"/><path d="M2 17c0-3.500 2.400-5.500 5.500-5.500 1.300 0 2.500.400 3.400 1"/><path d="M11.500 15h6.500M15.500 12l3 3-3 3"/>',
  spend:
    '<circle cx="10" cy="10" r="7.2"/><path d="M12.4 7.4c-.5-.8-1.4-1.2-2.4-1.2-1.400 0-2.500.700-2.500 1.900 0 2.700 5.100 1.200 5.100 3.800 0 1.200-1.200 1.900-2.600 1.900-1.100 0-2.100-.4-2.600-1.300M10 4.800v1.400M10 13.800v1.400"/>',
  charts: '<path d="M3 3v14h14"/><path d="m6 12 3-4 3 2.500 4-5.500"/>',
  failures: '<path d="M10 3.2 18 16.800H2z"/><path d="M10 8.200v4M10 14.500h.01"/>',
  queues:
    '<path d="m10 2.800 7.500 3.900L10 10.600 2.500 6.700z"/><path d="m2.500 10.200 7.500 3.900 7.500-3.900M2.500 13.600l7.500 3.900 7.500-3.900"/>',
  contract: '<path d="M5 2.800h7l4 4v10.400H5z"/><path d="M12 2.800v4h4M8 10.500h5M8 13.500h3"/>',
  settings:
    '<path d="M3 6h8M15 6h2M3 14h2M9 14h8"/><circle cx="13" cy="6" r="2"/><circle cx="7" cy="14" r="2"/>',
  audit:
    '<path d="M5 2.800h10a1 1 0 0 1 1 1v13.400H5a1.500 1.500 0 0 1-1.500-1.500V4.300A1.500 1.500 0 0 1 5 2.800z"/><path d="M7 7h6M7 10.500h6M16 14H5"/>',
  stop: '<path d="M6.600 2.500h6.800l4.100 4.100v6.800l-4.100 4.100H6.600l-4.100-4.100V6.600z"/><path d="M7.500 7.500v5M12.500 7.500v5"/>',
  go: '<path d="M6 4v12l10-6z"/>',
  light:
    '<circle cx="10" cy="10" r="3.400"/><path d="M10 2v1.500M10 16.500V18M2 10h1.500M16.500 10H18M4.300 4.300l1.100 1.100M14.600 14.600l1.100 1.100M4.300 15.700l1.100-1.100M14.600 5.400l1.100-1.100"/>',
  dark: '<path d="M16.500 12.200A7 7 0 0 1 7.800 3.500a7 7 0 1 0 8.700 8.700z"/>',
  auto: '<circle cx="10" cy="10" r="7"/><path d="M10 3v14a7 7 0 0 0 0-14z" fill="currentColor"/>',
  search: '<circle cx="9" cy="9" r="5.500"/><path d="m13.200 13.200 4 4"/>',
  ok: '<path d="m4 10.500 4 4 8-9"/>',
  arrow: '<path d="M4 10h12M11 5l5 5-5 5"/>',
} as const

export type IconName = keyof typeof paths

export function icon(name: IconName) {
  return raw(
    `<svg class="icon" viewBox="0 0 20 20" width="20" height="20" fill="none" stroke="currentColor" stroke-width="1.6" stroke-linecap="round" stroke-linejoin="round" aria-hidden="true" focusable="false">${paths[name]}</svg>`,
  )
}

/** The logo: a vein of gold in layered ground. */
export const mark = raw(
  '<svg class="mark" viewBox="0 0 28 28" width="28" height="28" aria-hidden="true" focusable="false"><rect width="28" height="28" rx="8" class="mark-ground"/><path d="M6 18.500c3-2.500 5 1 8-1s5-2.500 8-1" class="mark-line"/><path d="M6 13.500c3-2.500 5 1 8-1s5-2.500 8-1" class="mark-line mark-faint"/><circle cx="14" cy="8.500" r="2.200" class="mark-gold"/></svg>',
)
