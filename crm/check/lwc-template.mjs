import { parseMarkup } from './markup.mjs'

const path = /^\{\s*([A-Za-z_$][\w$]*(?:\.[A-Za-z_$][\w$]*)*)\s*\}$/

/**
 * Translates a template to TypeScript that reads the same members, so that the type checker reports members that the class
 * does not have. `lines` maps each line of the result to a line of the template.
 *
 * @param {string} template
 * @param {string} classModule the module that exports the class
 * @returns {{ source: string, lines: number[], problems: string[], components: string[] }}
 */
export function templateAsTypeScript(template, classModule) {
  const out = [
    [1, `import Component from '${classModule}'`],
    [1, 'declare const it: InstanceType<typeof Component>'],
    [1, 'export function template() {'],
  ]
  const problems = []
  const components = new Set()
  walk(parseMarkup(template, { isTemplate: true }), new Set())
  out.push([1, '}'])
  return {
    source: out.map(([, text]) => text).join('\n'),
    lines: out.map(([line]) => line),
    problems,
    components: [...components],
  }

  function walk(element, scope) {
    const { name, attributes, children, line } = element
    if (name.includes('-')) components.add(name)
    const list = attributes.get('for:each')
    const item = attributes.get('for:item')
    for (const [attribute, value] of attributes) {
      if (value.startsWith('{') && attribute !== 'for:each') read(attribute, value, scope, line)
    }
    if (list !== undefined && item !== undefined)
      out.push([line, `for (const ${item} of ${expression(list, scope, line)}) {`])
    const inner = item === undefined ? scope : new Set([...scope, item])
    for (const child of children) {
      if ('name' in child) walk(child, inner)
      else for (const [whole] of child.text.matchAll(/\{[^}]*\}/g)) read('text', whole, inner, child.line)
    }
    if (list !== undefined && item !== undefined) out.push([line, '}'])
  }

  function read(attribute, value, scope, line) {
    const text = expression(value, scope, line)
    out.push([
      line,
      /^on[a-z]/.test(attribute)
        ? `{ const handler: (event: never) => unknown = ${text}; void handler }`
        : `void ${text}`,
    ])
  }

  function expression(value, scope, line) {
    const found = path.exec(value)
    if (!found) {
      problems.push(`line ${line}: ${value} is not a path to a property; a template can read nothing else`)
      return 'undefined'
    }
    const [first = ''] = found[1].split('.')
    return scope.has(first) ? found[1] : `it.${found[1]}`
  }
}
