import { BaseSequencer, type TestSpecification } from 'vitest/node'

/**
 * Begins the files of test/integration before all others, each kind longest first. In a fresh clone nothing is known of how
 * long a file takes, and a short file may start ten processes: begun last, it would leave the other workers idle.
 */
export class LongFilesFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files)
    const isLong = ({ moduleId }: TestSpecification) => moduleId.includes('/test/integration/')
    return [...sorted.filter(isLong), ...sorted.filter((file) => !isLong(file))]
  }
}
