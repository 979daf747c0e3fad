/** Counts a suite's tests and writes the sum as one line of JSON, which scripts/test.ts adds up over the suites. */
import type { TestEvent } from 'node:test/reporters'
import { createFailureFormatter, isEmptyFile } from './failure.ts'

export interface TestCounts {
  readonly passed: number
  readonly skipped: readonly SkippedTest[]
  /** What each failure said: the runner repeats it behind everything else. */
  readonly failures: readonly string[]
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
  const tell = createFailureFormatter()
  for await (const event of events) {
    const failure = tell(event)
    if (failure !== undefined) failures.push(failure)
    const { type, data } = event
    if (type !== 'test:pass' || isEmptyFile(data)) continue
    if (data.skip !== undefined && data.skip !== false) {
      skipped.push({ name: data.name, reason: typeof data.skip === 'string' ? data.skip.trim() : '' })
    } else if (data.details.type !== 'suite') {
      passed += 1
    }
  }
  yield JSON.stringify({ passed, skipped, failures } satisfies TestCounts)
}
