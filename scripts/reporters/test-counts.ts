/** Counts a suite's tests, adds up the time per file, and writes both as one line of JSON, which scripts/test.ts adds up over the suites. */
import type { TestEvent } from 'node:test/reporters'
import { resolve } from 'node:path'
import { createFailureFormatter, isEmptyFile, isFileInTurn } from './failure.ts'

export interface TestCounts {
  readonly passed: number
  readonly skipped: readonly SkippedTest[]
  /** The text of each failure, which is repeated at the end. */
  readonly failures: readonly string[]
  /** How long each file took, by its path. */
  readonly fileMs: Readonly<Record<string, number>>
}

export interface SkippedTest {
  readonly name: string
  /** Empty when the test gives none. */
  readonly reason: string
}

/** `--test-reporter` takes the default export of a module. */
export default async function* tally(events: AsyncIterable<TestEvent>): AsyncGenerator<string> {
  let passed = 0
  const skipped: SkippedTest[] = []
  const failures: string[] = []
  const fileMs: Record<string, number> = {}
  const tell = createFailureFormatter()
  for await (const event of events) {
    const failure = tell(event)
    if (failure !== undefined) failures.push(failure)
    const { type, data } = event
    if (type === 'test:complete' && data.nesting === 0 && data.file !== undefined) {
      const { duration_ms: ms } = data.details
      // A file with a separate process or turn ends with its own event, which has its whole time.
      if (isFileInTurn(data)) fileMs[resolve(data.name)] = ms
      else fileMs[data.file] = data.file.endsWith(data.name) ? ms : (fileMs[data.file] ?? 0) + ms
    }
    if (type !== 'test:pass' || isEmptyFile(data) || isFileInTurn(data)) continue
    if (data.skip !== undefined && data.skip !== false) {
      skipped.push({ name: data.name, reason: typeof data.skip === 'string' ? data.skip.trim() : '' })
    } else if (data.details.type !== 'suite') {
      passed += 1
    }
  }
  yield JSON.stringify({ passed, skipped, failures, fileMs } satisfies TestCounts)
}
