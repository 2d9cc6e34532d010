type Fields = Readonly<Record<string, unknown>>

/** One kind of channel template as the service lists it, with the parameters that it takes where they could be read. */
export interface TemplateType {
  nodeId: string
  slug: string | null
  name: string | null
  /** Null where the answer does not tell them in a form that is known here. */
  parameters: readonly TemplateParameter[] | null
}

interface TemplateParameter {
  key: string
  isRequired: boolean
  maxLength: number | null
}

/** Reads the types of an answer. The form of their parameters is not shown; rows without a node are left out. */
export function readTemplateTypes(answer: unknown): TemplateType[] {
  if (!Array.isArray(answer)) return []
  return answer.filter(isFields).flatMap((row): TemplateType[] => {
    const { channel_node_id: nodeId, channel_type_slug: slug, name, parameters } = row
    if (typeof nodeId !== 'string') return []
    return [{ nodeId, slug: textOf(slug), name: textOf(name), parameters: readParameters(parameters) }]
  })
}

/** Returns the reason for which a template is none of its type; undefined for one that is, as far as its type tells. */
export function templateProblem(
  type: Pick<TemplateType, 'slug' | 'parameters'>,
  { slug, parameters }: { slug: string; parameters: Fields },
): string | undefined {
  if (type.slug !== null && slug !== type.slug) return `channel_type_slug of this node is ${type.slug}`
  if (type.parameters === null) return undefined
  const known = type.parameters.map(({ key }) => key)
  const stray = Object.keys(parameters).find((key) => !known.includes(key))
  if (stray !== undefined) return `parameters has no ${stray}; it has ${known.join(', ')}`
  for (const { key, isRequired, maxLength } of type.parameters) {
    const value = parameters[key]
    if (value === undefined || value === null) {
      if (isRequired) return `parameters.${key} is missing`
    } else if (maxLength !== null && typeof value === 'string' && value.length > maxLength)
      return `parameters.${key} has ${value.length} characters; ${maxLength} are allowed`
  }
  return undefined
}

function readParameters(value: unknown): TemplateParameter[] | null {
  if (!Array.isArray(value)) return null
  const read = value.map((each): TemplateParameter | null => {
    if (typeof each === 'string') return { key: each, isRequired: false, maxLength: null }
    if (!isFields(each) || typeof each['key'] !== 'string') return null
    const { max_length: most } = each
    return {
      key: each['key'],
      isRequired: each['is_required'] === true,
      maxLength: typeof most === 'number' ? most : null,
    }
  })
  return read.every((each) => each !== null) ? read : null
}

function isFields(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function textOf(value: unknown): string | null {
  return typeof value === 'string' ? value : null
}
