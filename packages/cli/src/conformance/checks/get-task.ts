/** GetTask: what it returns, and what it refuses. */
import { pass, type Check } from '../check.ts'
import { expectError, unknownTaskId } from '../expect.ts'

export const getTaskChecks: readonly Check[] = [
  {
    id: 'get.unknown-task',
    rules: ['B-160'],
    level: 'must',
    section: { '1.0': 'A2A 1.0 §3.1.3, §3.3.2', '0.3': 'A2A 0.3 §7.3, §8.2', '0.2': 'A2A 0.2 §7.3, §8.2' },
    title: 'GetTask of an unknown id is refused with TaskNotFoundError',
    versions: ['1.0', '0.3', '0.2'],
    bindings: ['JSONRPC', 'HTTP+JSON', 'GRPC'],
    sends: false,
    async run(subject) {
      const answer = await subject.call('GetTask', { id: unknownTaskId(subject) })
      expectError(answer, 'GetTask of an unknown id', 'TASK_NOT_FOUND')
      return pass()
    },
  },
]
