/** Counts a suite's tests and writes the sum as one line of JSON, which scripts/test.ts adds up over the suites. */
import type { TestEvent } from 'node:test/reporters'

export interface Tally {
  readonly passed: number
  readonly failed: number
  readonly skipped: readonly Skip[]
  /** Where the failures are. */
  readonly failedFiles: readonly string[]
}

export interface Skip {
  readonly name: string
  /** Empty when the test gives none. */
  readonly reason: string
}

type Failed = Extract<TestEvent, { type: 'test:fail' }>['data']
type Passed = Extract<TestEvent, { type: 'test:pass' }>['data']

/** A group that failed because its tests did is not one more failure; a group that broke by itself is. */
export function isFailure(test: Failed): boolean {
  const { error } = test.details
  return !('failureType' in error) || error.failureType !== 'subtestsFailed'
}

/** node reports a file without tests as one test that passed, under the name of the file. */
export function isEmptyFile(test: Passed): boolean {
  return test.nesting === 0 && test.name.endsWith('.test.ts') && test.file?.endsWith(test.name) === true
}

/** `--test-reporter` takes the default export of a module. */
export default async function* tally(events: AsyncIterable<TestEvent>): AsyncGenerator<string> {
  let passed = 0
  let failed = 0
  const skipped: Skip[] = []
  const failedFiles = new Set<string>()
  for await (const { type, data } of events) {
    if (type === 'test:fail' && isFailure(data)) {
      failed += 1
      if (data.file !== undefined) failedFiles.add(data.file)
    }
    if (type !== 'test:pass') continue
    if (isEmptyFile(data)) failed += 1
    else if (data.skip !== undefined && data.skip !== false) {
      skipped.push({ name: data.name, reason: typeof data.skip === 'string' ? data.skip.trim() : '' })
    } else if (data.details.type !== 'suite') {
      passed += 1
    }
  }
  yield JSON.stringify({ passed, failed, skipped, failedFiles: [...failedFiles] } satisfies Tally)
}
