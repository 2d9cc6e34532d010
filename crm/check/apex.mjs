import { ApexErrorListener, ApexParserBaseVisitor, ApexParserFactory } from '@apexdevtools/apex-parser'

class Errors extends ApexErrorListener {
  found = []

  apexSyntaxError(line, column, message) {
    this.found.push(`line ${line}:${column}: ${message}`)
  }
}

/** Collects the class and its methods with their annotations. */
class Members extends ApexParserBaseVisitor {
  className
  methods = new Map()

  visitTypeDeclaration(context) {
    this.className = context.classDeclaration()?.id()?.getText()
    return this.visitChildren(context)
  }

  visitClassBodyDeclaration(context) {
    const method = context.memberDeclaration()?.methodDeclaration()
    if (method) {
      this.methods.set(method.id().getText(), {
        modifiers: context.modifier_list().map((it) => it.getText().toLowerCase()),
        parameters: (method.formalParameters().formalParameterList()?.formalParameter_list() ?? []).map(
          (it) => it.id().getText(),
        ),
      })
      return undefined
    }
    return this.visitChildren(context)
  }
}

/**
 * Reads a class file: its syntax errors, its name, its methods by name, and the named credentials that it calls.
 *
 * @param {string} source
 */
export function readApex(source) {
  const errors = new Errors()
  const { parser } = ApexParserFactory.createLexerAndParser(source, errors)
  const unit = parser.compilationUnit()
  const members = new Members()
  if (errors.found.length === 0) members.visit(unit)
  return {
    errors: errors.found,
    className: members.className,
    methods: members.methods,
    callouts: [...source.matchAll(/'callout:(\w+)/g)].map(([, name]) => name),
  }
}
