// A strict parser for XML and Lightning templates. Throws with the line of anything that is not well-formed.

/**
 * @typedef {{ name: string, attributes: Map<string, string>, children: (Element | Text)[], line: number }} Element
 * @typedef {{ text: string, line: number }} Text
 */

const token =
  /<!--([\s\S]*?)-->|<\?[\s\S]*?\?>|<\/([A-Za-z][\w:.-]*)\s*>|<([A-Za-z][\w:.-]*)((?:\s+[\w:.-]+(?:\s*=\s*(?:"[^"<]*"|'[^'<]*'|\{[^}]*\}))?)*)\s*(\/?)>|[^<]+|</g
const attribute = /([\w:.-]+)(?:\s*=\s*(?:"([^"]*)"|'([^']*)'|(\{[^}]*\})))?/g

/**
 * Returns the root element. A template may have bare attributes and `{expression}` values; XML may not.
 *
 * @param {string} source
 * @param {{ isTemplate?: boolean }} [options]
 * @returns {Element}
 */
export function parseMarkup(source, { isTemplate = false } = {}) {
  /** @type {Element} */
  const top = { name: '', attributes: new Map(), children: [], line: 1 }
  const open = [top]
  let line = 1
  for (const [whole, comment, closing, opening, rest = '', slash] of source.matchAll(token)) {
    const current = open.at(-1) ?? top
    if (whole === '<') throw new Error(`line ${line}: a "<" that starts no tag`)
    if (closing !== undefined) {
      if (current.name !== closing)
        throw new Error(`line ${line}: </${closing}> closes <${current.name || 'nothing'}>`)
      open.pop()
    } else if (opening !== undefined) {
      const element = {
        name: opening,
        attributes: attributesOf(rest, { isTemplate, line }),
        children: [],
        line,
      }
      current.children.push(element)
      if (slash !== '/') open.push(element)
    } else if (comment === undefined && !whole.startsWith('<')) {
      checkEntities(whole, line)
      if (current === top && whole.trim() !== '') throw new Error(`line ${line}: text outside of the root`)
      if (whole.trim() !== '') current.children.push({ text: whole.trim(), line })
    }
    line += whole.split('\n').length - 1
  }
  const unclosed = open.at(-1)
  if (unclosed !== top) throw new Error(`line ${unclosed?.line}: <${unclosed?.name}> is not closed`)
  const [root, ...more] = elementsOf(top)
  if (!root || more.length > 0) throw new Error('there is not exactly one root element')
  return root
}

/** @param {Element} element */
export function elementsOf(element) {
  return element.children.filter((child) => 'name' in child)
}

/**
 * Returns the text of the first child with this name; undefined if there is none.
 *
 * @param {Element} element
 * @param {string} name
 */
export function textOf(element, name) {
  const child = elementsOf(element).find((it) => it.name === name)
  return child && child.children.map((it) => ('text' in it ? it.text : '')).join('')
}

/**
 * @param {Element} element
 * @param {string} name
 */
export function all(element, name) {
  return elementsOf(element).filter((it) => it.name === name)
}

function attributesOf(source, { isTemplate, line }) {
  const attributes = new Map()
  for (const [, name, double, single, expression] of source.matchAll(attribute)) {
    const value = double ?? single ?? expression
    if (!isTemplate && (value === undefined || expression !== undefined))
      throw new Error(`line ${line}: the attribute ${name} has no quoted value`)
    if (attributes.has(name)) throw new Error(`line ${line}: the attribute ${name} is used twice`)
    checkEntities(value ?? '', line)
    attributes.set(name, value ?? '')
  }
  return attributes
}

function checkEntities(text, line) {
  const wrong = /&(?!(?:amp|lt|gt|quot|apos|#\d+|#x[\da-fA-F]+);)/.exec(text)
  if (wrong) throw new Error(`line ${line}: a "&" that starts no entity`)
}
