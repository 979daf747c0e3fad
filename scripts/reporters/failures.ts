/** The output of a suite while it runs: each failure in full, the output of tests, and nothing else. */
import type { TestEvent } from 'node:test/reporters'
import { createFailureFormatter } from './failure.ts'

/** `--test-reporter` takes the default export of a module. */
export default async function* failures(events: AsyncIterable<TestEvent>): AsyncGenerator<string> {
  const tell = createFailureFormatter()
  for await (const event of events) {
    const failure = tell(event)
    if (failure !== undefined) yield `\n${failure}\n`
    if (event.type === 'test:stdout' || event.type === 'test:stderr') yield event.data.message
  }
}
