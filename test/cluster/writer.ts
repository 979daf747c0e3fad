/** A process that appends to a task at the same time as another process, and reads only the responses to its appends. */
import pg from 'pg'
import type { RecordBody } from '../../packages/a2a/src/model/record.ts'
import { postgresStore } from '@parley/a2a/stores/postgres'

export interface WriterSettings {
  readonly name: string
  readonly database: string
  /** Base64. */
  readonly masterKey: string
  readonly taskId: string
  readonly chunks: number
}

const { name, database, masterKey, taskId, chunks } = JSON.parse(process.argv[2] ?? '{}') as WriterSettings
const store = postgresStore({ pool: new pg.Pool({ connectionString: database, max: 2 }), masterKey, endPool: true })
let expectedSeq = (await store.tasks.load(taskId))?.head ?? 0
process.send?.('ready')
await new Promise((resolve) => process.once('message', resolve))
let conflicts = 0
for (let n = 0; n < chunks;) {
  const body: RecordBody = {
    type: 'artifact',
    artifact: { artifactId: name, parts: [{ text: `${n} ` }] },
    append: n > 0,
  }
  const answer = await store.tasks.append(taskId, { expectedSeq, records: [{ at: Date.now(), body }] })
  if (answer.outcome === 'appended') n += 1
  else conflicts += 1
  if (answer.outcome === 'appended' || answer.outcome === 'conflict') expectedSeq = answer.head
}
await store.close()
process.send?.({ conflicts })
process.disconnect()
