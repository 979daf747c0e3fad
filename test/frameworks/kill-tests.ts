/**
 * What every adapter promises when its process is killed with SIGKILL. The program under test answers these messages:
 *
 * - `pay`: calls a tool that needs an approval. It causes an effect, and the answer is `paid`.
 * - `work`: calls a tool that causes an effect. In its first life the tool never returns; later the answer is `worked`.
 * - `slow`: says `one `, prints `begun` and waits in its first life; later it says `one two three` at once.
 *
 * With the setting `resume: 'fail'` the agent does not run again.
 */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { StreamEvent, Task } from '@parley/a2a'
import { connect } from '@parley/a2a/client'
import { openKillableServer } from './killable-server.ts'

export function killTests(name: string, program: string): void {
  describe(`${name}, killed with SIGKILL,`, () => {
    it('while an approval waits, continues with the answer of a client of another version, and the tool runs once', async (t) => {
      const server = await openKillableServer(t, program)
      const asked = await (await connect(server.url, { version: '1.0' })).send('pay')
      assert.ok(asked.kind === 'task')
      assert.equal(asked.status.state, 'TASK_STATE_INPUT_REQUIRED')
      assert.equal(server.effects(), 0)
      await server.kill()
      await server.start()
      const other = await connect(server.url, { version: '0.3' })
      const { id: taskId, contextId = '' } = asked
      const done = await other.send({ parts: [{ text: 'yes' }], taskId, contextId })
      assert.ok(done.kind === 'task')
      assert.equal(done.status.state, 'TASK_STATE_COMPLETED', JSON.stringify(done.status))
      assert.match(textOf(done), /paid/)
      assert.equal(server.effects(), 1)
    })

    it('while an approval waits, does not run the tool after a rejection', async (t) => {
      const server = await openKillableServer(t, program)
      const asked = await (await connect(server.url)).send('pay')
      assert.ok(asked.kind === 'task')
      await server.kill()
      await server.start()
      const { id: taskId, contextId = '' } = asked
      const done = await (
        await connect(server.url)
      ).send({ parts: [{ data: { optionId: 'reject' } }], taskId, contextId })
      assert.ok(done.kind === 'task')
      assert.equal(done.status.state, 'TASK_STATE_COMPLETED', JSON.stringify(done.status))
      assert.equal(server.effects(), 0)
    })

    it('after the effect of a tool and before its record, causes it twice under rerun', async (t) => {
      const server = await openKillableServer(t, program, { resume: 'rerun' })
      const { id } = await (await connect(server.url)).start('work')
      await server.printed('effect')
      await server.kill()
      await server.start()
      const done = await (await connect(server.url)).wait(id)
      assert.equal(done.status.state, 'TASK_STATE_COMPLETED', JSON.stringify(done.status))
      assert.match(textOf(done), /worked/)
      assert.equal(server.effects(), 2)
    })

    it('after the effect of a tool and before its record, fails under fail, with one effect', async (t) => {
      const server = await openKillableServer(t, program, { resume: 'fail' })
      const { id } = await (await connect(server.url)).start('work')
      await server.printed('effect')
      await server.kill()
      await server.start()
      const done = await (await connect(server.url)).wait(id)
      assert.equal(done.status.state, 'TASK_STATE_FAILED')
      assert.equal(server.effects(), 1)
    })

    it('in the middle of a stream, lets the reader resume: one restart of the artifact, and the text of one run', async (t) => {
      const server = await openKillableServer(t, program)
      const events: StreamEvent[] = []
      const stream = (await connect(server.url)).stream('slow')
      for await (const event of stream) {
        events.push(event)
        if ('artifactUpdate' in event) break
      }
      const { taskId = '', lastEventId } = stream
      await server.printed('begun')
      await server.kill()
      await server.start()
      const again = await connect(server.url)
      const from = lastEventId === undefined ? {} : { lastEventId }
      for await (const event of again.subscribe(taskId, from)) events.push(event)
      assert.equal(textOf(await again.get(taskId)), 'one two three')
      assert.equal(foldedText(events), 'one two three')
      const chunks = events.flatMap((event) => ('artifactUpdate' in event ? [event.artifactUpdate] : []))
      const restarts = chunks.filter(({ append }) => append !== true)
      assert.equal(restarts.length, 2, 'the first chunk of each run, and no other, starts the artifact')
    })
  })
}

function textOf({ artifacts = [] }: Task): string {
  return artifacts.map(({ parts }) => parts.map((part) => ('text' in part ? part.text : '')).join('')).join('')
}

/** The artifact as a reader of the events has it. */
function foldedText(events: readonly StreamEvent[]): string {
  let text = ''
  for (const event of events) {
    if (!('artifactUpdate' in event)) continue
    const { artifact, append } = event.artifactUpdate
    const chunk = artifact.parts.map((part) => ('text' in part ? part.text : '')).join('')
    text = append === true ? text + chunk : chunk
  }
  return text
}
