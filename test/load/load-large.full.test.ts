/** The quick mode of `npm run load large`: a few large tasks, in each way in. Nothing is timed. */
import assert from 'node:assert/strict'
import { it } from 'node:test'
import { runLargeTasks } from './run-large-tasks.ts'

it('answers each request for a large task, in each way in', async () => {
  const ways = ['jsonrpc', 'rest', 'grpc', 'mcp', 'admin', 'list', 'replay'] as const
  const sizes = { tasks: 3, megabytes: 2, requests: 6, caseMs: 120_000 }
  const all = await runLargeTasks({ stores: ['sqlite'], ways, reads: [true], ...sizes, onFigures() {} })
  assert.deepEqual(
    all.slice(1).map(({ way, answered, refused, lastError }) => ({ way, answered, refused, lastError })),
    ways.map((way) => ({ way, answered: way === 'replay' ? 3 : 6, refused: 0, lastError: '' })),
  )
})
