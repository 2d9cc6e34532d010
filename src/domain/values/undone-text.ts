import { counted } from './counted.ts'

/** Returns "undone" or "undone in part", the state of a run beside the one in which it ended. */
export function undoneWord({ fields, of }: { fields: number; of: number }): string {
  return fields < of ? 'undone in part' : 'undone'
}

/** Returns how much of a run was undone: "161 of 163 fields", "all 161 fields". */
export function undoneAmount({ fields, of }: { fields: number; of: number }): string {
  if (fields < of) return `${fields} of ${counted(of, 'field')}`
  return of === 1 ? 'the one field' : `all ${counted(of, 'field')}`
}
