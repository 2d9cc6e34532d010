import { commentsThatAsk, withoutComments } from './house-rules.ts'

/** Test files, fixtures and other modules of the tests, by path from the root of the repository. */
type TestSources = ReadonlyMap<string, string>

/** A longer file is of more than one behaviour, or gives its reason in its first line. */
const longFile = 300
const reasonForLength = /^\/(?:\/|\*\*) One file because /

/**
 * Hooks and tests that a module registers when it is loaded. Test files of a project share their modules (`isolate: false`):
 * the first alone would get them.
 */
const atLoad = /^(?:(?:before|after)(?:All|Each)|test|it|describe)\b/m
const loadedOnce = ['test/support/close-idle-ledgers.ts', 'test/support/real-timers.ts']

/** A module that one test file replaces stays replaced for those that share its process. */
const replacedModule = /\bvi\s*\.\s*(?:mock|doMock)\s*\(/

/** Returns every breach of the rules for test files, one sentence each. */
export function findTestBreaches(sources: TestSources): string[] {
  return [...sources].flatMap(([path, source]) => [
    ...(isLong(source)
      ? [`${path} has more than ${longFile} lines and gives no reason in its first line`]
      : []),
    ...(!path.endsWith('.test.ts') && !loadedOnce.includes(path) && atLoad.test(source)
      ? [`${path} registers hooks or tests outside a function`]
      : []),
    ...(replacedModule.test(withoutComments(source))
      ? [`${path} replaces a module: pass the dependency in`]
      : []),
    ...commentsThatAsk(new Map([[path, source]])),
  ])
}

function isLong(source: string): boolean {
  return source.trimEnd().split('\n').length > longFile && !reasonForLength.test(source)
}
