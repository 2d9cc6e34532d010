import { parseSync, visitorKeys, type Node } from 'oxc-parser'

/** One small mistake in a source file. */
export interface Mutant {
  file: string
  line: number
  /** The text that is replaced, and by what. */
  original: string
  replacement: string
  start: number
  end: number
}

const swapped: Record<string, readonly string[]> = {
  '+': ['-'],
  '-': ['+'],
  '*': ['/'],
  '/': ['*'],
  '%': ['*'],
  '===': ['!=='],
  '!==': ['==='],
  '<': ['<=', '>='],
  '<=': ['<', '>'],
  '>': ['>=', '<='],
  '>=': ['>', '<'],
  '&&': ['||'],
  '||': ['&&'],
  '??': ['&&'],
  '+=': ['-='],
  '-=': ['+='],
  '??=': ['='],
  '++': ['--'],
  '--': ['++'],
}

const otherMethod: Record<string, string> = {
  some: 'every',
  every: 'some',
  startsWith: 'endsWith',
  endsWith: 'startsWith',
  toLowerCase: 'toUpperCase',
  toUpperCase: 'toLowerCase',
  min: 'max',
  max: 'min',
}

/** Methods without which the rest of the expression still makes sense. */
const droppedMethods = new Set([
  'filter',
  'slice',
  'trim',
  'sort',
  'toSorted',
  'reverse',
  'normalize',
  'flat',
])

/**
 * Returns every mutant of a source text: operators swapped, conditions fixed, blocks and calls removed, literals changed.
 * Types, imports and the prose of error messages are left alone.
 */
export function mutantsOf(file: string, source: string): Mutant[] {
  const { program, errors } = parseSync(file, source)
  if (errors.length > 0) throw new Error(`${file}: ${errors[0]!.message}`)
  const found: Mutant[] = []
  const text = (node: Node) => source.slice(node.start, node.end)
  const add = (start: number, end: number, replacement: string) => {
    const original = source.slice(start, end)
    if (original === replacement) return
    found.push({ file, line: source.slice(0, start).split('\n').length, original, replacement, start, end })
  }
  const replace = (node: Node, replacement: string) => add(node.start, node.end, replacement)
  const swapOperator = (left: Node, right: Node, operator: string) => {
    const at = source.indexOf(operator, left.end)
    if (at >= right.start) return
    for (const other of swapped[operator] ?? []) add(at, at + operator.length, other)
  }
  const fixCondition = (test: Node, values: readonly string[]) => {
    for (const value of values) replace(test, value)
  }

  const visit = (node: Node, parents: readonly Node[]): void => {
    const parent = parents.at(-1)
    switch (node.type) {
      case 'ImportDeclaration':
      case 'ExportAllDeclaration':
      case 'TSInterfaceDeclaration':
      case 'TSTypeAliasDeclaration':
      case 'TSTypeAnnotation':
      case 'TSTypeParameterInstantiation':
      case 'TSTypeParameterDeclaration':
        return
      case 'TSAsExpression':
      case 'TSSatisfiesExpression':
        return visit(node.expression, [...parents, node])
      case 'BinaryExpression':
      case 'LogicalExpression':
      case 'AssignmentExpression':
        swapOperator(node.left, node.right, node.operator)
        break
      case 'ConditionalExpression':
        fixCondition(node.test, ['true', 'false'])
        break
      case 'IfStatement':
        fixCondition(node.test, ['true', 'false'])
        break
      case 'WhileStatement':
        fixCondition(node.test, ['false'])
        break
      case 'UnaryExpression':
        if (node.operator === '!' || node.operator === '-') replace(node, text(node.argument))
        break
      case 'UpdateExpression':
        replace(
          node,
          node.operator === '++' ? text(node).replace('++', '--') : text(node).replace('--', '++'),
        )
        break
      case 'Literal':
        if (isKeyOf(node, parent)) return
        if (typeof node.value === 'boolean') replace(node, String(!node.value))
        else if (typeof node.value === 'number') replace(node, String(node.value + 1))
        else if ('bigint' in node) replace(node, `${BigInt(node.bigint) + 1n}n`)
        else if ('regex' in node) for (const other of otherPatterns(text(node))) replace(node, other)
        else if (typeof node.value === 'string' && !isProse(text(node), parents))
          replace(node, node.value === '' ? "'mutant'" : "''")
        return
      case 'TemplateLiteral':
        if (parent?.type !== 'TaggedTemplateExpression' && !isProse(text(node), parents)) replace(node, '``')
        break
      case 'ArrayExpression':
        if (node.elements.length > 0) replace(node, '[]')
        break
      case 'ObjectExpression':
        if (node.properties.length > 0) replace(node, '{}')
        break
      case 'ArrowFunctionExpression':
        if (node.body.type !== 'BlockStatement') {
          // The parentheses around an object belong to no node.
          const arrow = source.indexOf('=>', node.params.at(-1)?.end ?? node.start)
          if (arrow >= 0 && arrow < node.body.start) add(arrow + 2, node.end, ' undefined')
        }
        break
      case 'BlockStatement':
        if (node.body.length > 0) replace(node, '{}')
        break
      case 'ExpressionStatement':
        replace(node, ';')
        break
      case 'CallExpression':
        if (node.callee.type === 'MemberExpression' && node.callee.property.type === 'Identifier') {
          const { object, property } = node.callee
          const other = otherMethod[property.name]
          if (other) replace(property, other)
          if (droppedMethods.has(property.name)) add(object.end, node.end, '')
        }
        break
      case 'MemberExpression':
        if (node.optional && !node.computed) {
          const at = source.indexOf('?.', node.object.end)
          if (at < node.property.start) add(at, at + 2, '.')
        }
        break
    }
    for (const key of visitorKeys[node.type] ?? []) {
      const child = (node as unknown as Record<string, Node | Node[] | null>)[key]
      for (const one of Array.isArray(child) ? child : [child]) if (one) visit(one, [...parents, node])
    }
  }
  visit(program as unknown as Node, [])
  return found
}

/** Returns the source with one mutant in it. */
export function applyMutant(source: string, { start, end, replacement }: Mutant): string {
  return source.slice(0, start) + replacement + source.slice(end)
}

function isKeyOf(node: Node, parent: Node | undefined): boolean {
  return parent?.type === 'Property' && parent.key === node && !parent.computed
}

/** Returns true for a message to a person: a text with a space that is given to an error that is made. */
function isProse(text: string, parents: readonly Node[]): boolean {
  return text.includes(' ') && parents.some((it) => it.type === 'NewExpression')
}

/** Returns a pattern without its anchors, and without its flags. */
function otherPatterns(literal: string): string[] {
  const [, body = '', flags = ''] = /^\/(.*)\/(\w*)$/s.exec(literal) ?? []
  return [
    ...(body.startsWith('^') ? [`/${body.slice(1)}/${flags}`] : []),
    ...(/[^\\]\$$/.test(body) ? [`/${body.slice(0, -1)}/${flags}`] : []),
    ...(flags.includes('i') ? [`/${body}/${flags.replace('i', '')}`] : []),
    ...(flags.includes('g') ? [`/${body}/${flags.replace('g', '')}`] : []),
    ...(body.includes('+') ? [`/${body.replace('+', '')}/${flags}`] : []),
  ]
}
