import assert from 'node:assert/strict'
import { describe, it, type TestContext } from 'node:test'
import { testAgent, type TestAgent } from '@parley/a2a/testing'
import type { Message, Task } from '@parley/a2a'
import { rehearsal, rehearsalSkills } from './rehearsal.ts'

function open(t: TestContext): TestAgent {
  const agent = testAgent(rehearsal)
  t.after(() => agent.close())
  return agent
}

const stateOf = ({ status }: Task): string => status.state.replace('TASK_STATE_', '')
const partsOf = ({ artifacts = [] }: Task) => artifacts.flatMap(({ parts }) => parts)

describe('the rehearsal', () => {
  it('asks and continues with the answer, whatever it is', async (t) => {
    const agent = open(t)
    for (const [command, state] of [
      ['ask', 'INPUT_REQUIRED'],
      ['auth', 'AUTH_REQUIRED'],
    ]) {
      const waiting = (await agent.send(String(command))) as Task
      assert.equal(stateOf(waiting), state)
      const done = (await agent.send('fail', { taskId: waiting.id })) as Task
      assert.equal(done.id, waiting.id)
      assert.equal(stateOf(done), 'COMPLETED')
      assert.deepEqual(partsOf(done), [{ text: 'Thank you. You said: fail' }])
    }
  })

  it('works for the requested number of seconds, until it is canceled', async (t) => {
    const agent = open(t)
    const events = await agent.stream('work 1').all()
    const ticks = events.flatMap((event) => ('artifactUpdate' in event ? [event.artifactUpdate.artifact] : []))
    assert.deepEqual(ticks, [{ artifactId: 'ticks', parts: [{ text: '1\n' }] }])
    const { id } = (await agent.send('Work 3600', { returnImmediately: true })) as Task
    assert.equal(stateOf(await agent.cancel(id)), 'CANCELED')
    assert.equal(stateOf((await agent.send('work hard')) as Task), 'REJECTED')
  })

  it('streams files, each in an event of its own', async (t) => {
    const events = await open(t).stream('files').all()
    const files = events
      .flatMap((event) => ('artifactUpdate' in event ? event.artifactUpdate.artifact.parts : []))
      .flatMap((part) => ('raw' in part ? [[part.filename, part.mediaType, part.raw !== '']] : []))
    assert.deepEqual(files, [
      ['notes.txt', 'text/plain', true],
      ['squares.csv', 'text/csv', true],
      ['circle.svg', 'image/svg+xml', true],
    ])
  })

  it('fails, crashes and rejects', async (t) => {
    const agent = open(t)
    const said = (task: Task) => [stateOf(task), task.status.message?.parts]
    assert.deepEqual(said((await agent.send('fail')) as Task), [
      'FAILED',
      [{ text: 'This task failed because you asked for a failure.' }],
    ])
    // The text of an exception is for the operator.
    assert.deepEqual(said((await agent.send('crash')) as Task), ['FAILED', [{ text: 'The agent failed' }]])
    assert.deepEqual(said((await agent.send('reject')) as Task), [
      'REJECTED',
      [{ text: 'This task was rejected because you asked for a rejection.' }],
    ])
  })

  it('replies without a task', async (t) => {
    const answer = (await open(t).send('reply')) as Message
    assert.deepEqual(answer.parts, [{ text: 'This is a direct message: it has no task.' }])
  })

  it('lists the examples of its skills in answer to anything else', async (t) => {
    const [help] = partsOf((await open(t).send('Hello')) as Task)
    const text = help !== undefined && 'text' in help ? help.text : ''
    const examples = rehearsalSkills.flatMap((skill) => skill.examples ?? [])
    assert.deepEqual(
      [...text.matchAll(/`(.+?)`/g)].map(([, example]) => example),
      examples,
    )
  })
})
