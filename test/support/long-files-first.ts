import { BaseSequencer, type TestSpecification } from 'vitest/node'

/**
 * Begins the files of test/integration and test/slow before all others, each kind longest first. In a fresh clone nothing is known of how
 * long a file takes, and a short file may start ten processes: begun last, it would leave the other workers idle.
 */
export class LongFilesFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files)
    const isLong = ({ moduleId }: TestSpecification) => /\/test\/(integration|slow)\//.test(moduleId)
    return [...sorted.filter(isLong), ...sorted.filter((file) => !isLong(file))]
  }
}
