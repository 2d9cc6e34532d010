/** A text that a person, a CRM or the service may have written, in a length and a shape that strains a layout. */
export interface HostileText {
  name: string
  text: string
}

const lengths = [10, 200, 5_000]

/** Each repeats to any length. The halves of a character and U+0000 are missing: the ledger cannot hold them. */
const shapes: Record<string, string> = {
  words: 'Please ask Ada before you resume, she knows the budget. ',
  unbroken: 'Donaudampfschifffahrtsgesellschaft',
  'right to left': 'شركةالشحنوالتخزين',
  // Control characters, an override of direction that is never ended, markup, an emoji of several characters, stacked accents.
  'control characters': 'a\u0007\u001b[31m\t\u202eevil\u2066<b>&amp;"\'👩🏽‍🚒e\u0301\u0323\u0302',
}

/** Every shape at every length. */
export const hostileTexts: readonly HostileText[] = lengths.flatMap((length) =>
  Object.entries(shapes).map(([shape, unit]) => ({
    name: `${length} of ${shape}`,
    text: [...unit.repeat(Math.ceil(length / unit.length))].join('').slice(0, length).toWellFormed(),
  })),
)
