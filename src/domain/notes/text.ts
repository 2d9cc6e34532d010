/** The texts of a note or task, as its writer gave them. */
export interface NoteText {
  title: string
  body: string
  links: readonly { title: string; url: string }[]
  marker: string
}

const mostLinks = 50

/** Returns one line of at most `limit` characters, without control characters. */
export function oneLine(text: string, limit: number): string {
  return cut(readable(text).replaceAll(/\s+/g, ' ').trim(), limit)
}

/** Returns body, links and marker as plain text of at most `limit` characters. The marker is always whole. */
export function plainNote({ body, links, marker }: NoteText, limit: number): string {
  const end = `\n\n${marker}`
  const lines = links
    .slice(0, mostLinks)
    .map(({ title, url }) => `${oneLine(title, 200)}: ${oneLine(url, 2000)}`)
  return fit(readable(body).trim(), lines, limit - end.length, (text, shown) =>
    [text, ...(shown.length > 0 ? [shown.join('\n')] : [])].filter(Boolean).join('\n\n'),
  ).concat(end)
}

/**
 * Returns title, body, links and marker as HTML of at most `limit` characters: everything that was given is text in it, and only a link by
 * http leads anywhere.
 */
export function htmlNote({ title, body, links, marker }: NoteText, limit: number): string {
  const head = title === '' ? '' : `<p><strong>${escaped(oneLine(title, 500))}</strong></p>`
  const end = `<p>${marker}</p>`
  const items = links.slice(0, mostLinks).map((link) => `<li>${anchor(link)}</li>`)
  return `${head}${fit(readable(body).trim(), items, limit - head.length - end.length, (text, shown) => {
    const paragraphs = text.split(/\n{2,}/).filter(Boolean)
    const told = paragraphs.map((each) => `<p>${escaped(each).replaceAll('\n', '<br>')}</p>`).join('')
    return `${told}${shown.length > 0 ? `<ul>${shown.join('')}</ul>` : ''}`
  })}${end}`
}

/** Returns the words of HTML or plain text, in one spelling for all the forms in which a CRM returns the same note. */
export function wordsOf(text: string): string {
  return text
    .replaceAll(/<[^>]*>/g, ' ')
    .replaceAll(/&(amp|lt|gt|quot|nbsp|#39|#x27);/g, (whole) => entities[whole] ?? whole)
    .replaceAll(/\s+/g, ' ')
    .trim()
}

const entities: Readonly<Record<string, string>> = {
  '&amp;': '&',
  '&lt;': '<',
  '&gt;': '>',
  '&quot;': '"',
  '&nbsp;': ' ',
  '&#39;': "'",
  '&#x27;': "'",
}

/** Leaves out the last links, then the end of the text, until the whole fits. */
function fit(
  body: string,
  links: readonly string[],
  limit: number,
  whole: (body: string, links: readonly string[]) => string,
): string {
  let [text, shown] = [body, links]
  for (;;) {
    const made = whole(text, shown)
    if (made.length <= limit) return made
    if (shown.length > 0 && whole(text, []).length > limit / 2) shown = shown.slice(0, -1)
    else if (text !== '') text = cut(text, Math.floor(text.length * 0.8))
    else shown = shown.slice(0, -1)
  }
}

function anchor({ title, url }: { title: string; url: string }): string {
  const text = escaped(oneLine(title, 200))
  const isWeb = /^https?:\/\//i.test(url) && url.length <= 2000 && URL.canParse(url)
  return isWeb ? `<a href="${escaped(new URL(url).href)}">${text}</a>` : text
}

function escaped(text: string): string {
  return text
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;')
    .replaceAll("'", '&#39;')
}

/** Returns the text as every CRM stores it: well formed, with no control character but the line feed. */
function readable(text: string): string {
  return text
    .toWellFormed()
    .replaceAll(/\r\n?/g, '\n')
    .replaceAll(/[^\P{Cc}\n]/gu, ' ')
}

/** Cuts between characters, and shows that it did. */
function cut(text: string, limit: number): string {
  if (text.length <= limit) return text
  return `${text.slice(0, Math.max(0, limit - 1)).replace(/[\uD800-\uDBFF]$/, '')}…`
}
