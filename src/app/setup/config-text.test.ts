import { expect, test } from 'vitest'
import { crmNames } from '../../connectors/definitions.ts'
import { resolveConfig } from '../config/config.ts'
import { fileSchema } from '../config/file.ts'
import { configText } from './config-text.ts'

test.each([[[]], ...crmNames.map((name) => [[name]])])(
  'the config file for %j sets nothing, and is valid with everything switched on',
  (crms) => {
    const text = configText(crms)
    expect(fileSchema.parse(evaluated(text))).toEqual({})
    const on = evaluated(text.replaceAll(/^(\s*)\/\/ /gm, '$1')) as Record<string, unknown>
    expect(Object.keys(on).length).toBeGreaterThanOrEqual(7)
    expect(() => resolveConfig({}, fileSchema.parse(on))).not.toThrow()
  },
)

/** Returns the object that the file exports. */
function evaluated(text: string): unknown {
  const object = /defineConfig\((\{[\s\S]*\})\)\n$/.exec(text)?.[1]
  return new Function(`return ${object}`)()
}
