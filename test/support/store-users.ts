import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'

/** The module from which every test that keeps data takes its stores. */
const source = 'test/support/stores.ts'
const localImport = /from '(\.{1,2}\/[^']+\.ts)'/g

/** Returns the test files under `folders` that use a store, by themselves or through what they import below test/. */
export function filesUsingStores(root: string, folders: readonly string[]): string[] {
  const known = new Map<string, boolean>()

  function usesStores(path: string): boolean {
    if (path === source) return true
    const before = known.get(path)
    if (before !== undefined) return before
    // Set first: two files that import each other end here.
    known.set(path, false)
    // A test of the layout may quote an import that leads nowhere.
    if (!existsSync(join(root, path))) return false
    const text = readFileSync(join(root, path), 'utf8')
    const found = [...text.matchAll(localImport)]
      .map(([, to = '']) => relative(root, join(root, dirname(path), to)))
      .some((to) => to.startsWith('test/') && usesStores(to))
    known.set(path, found)
    return found
  }

  return folders
    .flatMap((folder) =>
      readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' }).map((name) =>
        join(folder, name),
      ),
    )
    .filter((path) => path.endsWith('.test.ts') && usesStores(path))
    .sort()
}
