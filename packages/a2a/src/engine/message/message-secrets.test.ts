/** A secret reaches its turn once, and never a reader of the log. */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Agent, Turn } from '../../agents/agent.ts'
import { authRequired, inputRequired } from '../../agents/reports.ts'
import { credentialsExtension } from '../../model/extension.ts'
import { isRedacted } from '../../model/secrets.ts'
import type { Message, Part, Struct } from '../../model/task.ts'
import { memoryStore } from '../../stores/memory/memory-store.ts'
import type { FullStore, TaskStore } from '../../stores/store.ts'
import {
  type TestEngine,
  artifactText,
  eventually,
  openTestEngine,
  textOfMessage,
  short,
  userMessage,
} from '../../testing/fixtures/test-engine.ts'
import { crashingStores } from '../../testing/fixtures/crashing-store.ts'
import { openReplicas } from '../../testing/fixtures/replicas.ts'
import { canonicalText } from './message-claims.ts'

const secret = 'hunter2'
const secretPart: Part = { text: secret, metadata: { [credentialsExtension]: { sensitive: true } } }

/** Records every argument of a store. */
function recordWrites(store: FullStore): { store: FullStore; written: () => string } {
  const writes: string[] = []
  const append: TaskStore['append'] = (id, what) => {
    writes.push(JSON.stringify(what))
    return store.tasks.append(id, what)
  }
  const saveSnapshot: TaskStore['saveSnapshot'] = (id, snapshot) => {
    writes.push(JSON.stringify(snapshot))
    return store.tasks.saveSnapshot(id, snapshot)
  }
  const recording = { ...store, tasks: { ...store.tasks, append, saveSnapshot } }
  return { store: recording, written: () => writes.join('\n') }
}

/** Behaves like a database over a network: reads return copies, and other processes learn of an append before its writer does. */
function slowlyTelling(store: FullStore): FullStore {
  const append: TaskStore['append'] = async (id, what) => {
    const answer = await store.tasks.append(id, structuredClone(what))
    await sleep(20)
    return answer
  }
  const read: TaskStore['read'] = async (...given) => structuredClone(await store.tasks.read(...given))
  return { ...store, tasks: { ...store.tasks, append, read } }
}

/** Asks for a password, then reports its length. */
const asks: Agent = ({ text, task }: Turn) =>
  task.state === 'TASK_STATE_SUBMITTED' && text !== secret
    ? inputRequired('Password?', { sensitive: true })
    : `It has ${text.length} letters`

describe('a secret in a message', () => {
  it('that opens a task reaches the agent, and neither the log nor the history [B-170]', async (t) => {
    const { store, written } = recordWrites(memoryStore())
    const seen: Message[] = []
    const testEngine = await openTestEngine(
      t,
      ({ message }) => {
        seen.push(message)
        return 'ok'
      },
      { store },
    )
    const task = await testEngine.task({ parts: [{ text: 'take this' }, secretPart] })
    assert.deepEqual(seen[0]?.parts, [{ text: 'take this' }, secretPart])
    assert.deepEqual(task.history?.[0]?.parts.map(isRedacted), [false, true])
    const stream = await testEngine.subscribe(task.id, { lastEventId: 0 })
    assert.doesNotMatch(JSON.stringify(await stream.rest()), /hunter2/)
    assert.doesNotMatch(written(), /hunter2/)
    assert.match(written(), /take this/)
  })

  it('that answers a question for one is hidden even if it is not marked [B-156 B-161]', async (t) => {
    const { store, written } = recordWrites(memoryStore())
    const testEngine = await openTestEngine(t, asks, { store })
    const asked = await testEngine.task('go')
    assert.equal(textOfMessage(asked.status.message), 'Password?')
    const done = await testEngine.task({ taskId: asked.id, parts: [{ text: secret }] })
    assert.equal(artifactText(done, 'answer-2'), 'It has 7 letters')
    assert.doesNotMatch(JSON.stringify([done, await testEngine.log(done.id)]), /hunter2/)
    assert.doesNotMatch(written(), /hunter2/)
    // A message sent after the secret is known is not a secret.
    assert.equal(textOfMessage(done.history?.[0]), 'go')
  })

  it('reaches ask(), and the reader of steering messages', async (t) => {
    const { store, written } = recordWrites(memoryStore())
    const received: string[] = []
    const testEngine = await openTestEngine(
      t,
      async function* ({ ask, messages }: Turn) {
        received.push(await ask('Password?', { sensitive: true }))
        yield 'thanks'
        for await (const message of messages) {
          received.push(textOfMessage(message) ?? '')
          return
        }
      },
      { store, options: { whenBusy: 'steer' } },
    )
    const { id } = await testEngine.start('go')
    await testEngine.reaches(id, 'TASK_STATE_INPUT_REQUIRED')
    await testEngine.start({ taskId: id, parts: [{ text: secret }] })
    await eventually(() => received.length === 1)
    await testEngine.start({
      taskId: id,
      parts: [{ text: 'two' }],
      metadata: { [credentialsExtension]: { sensitive: true } },
    })
    await testEngine.reaches(id, 'TASK_STATE_COMPLETED')
    assert.deepEqual(received, [secret, 'two'])
    assert.doesNotMatch(written(), /hunter2|"two"/)
  })

  it('leaves only a keyed hash in the record that recognizes a repeated message [B-163]', async (t) => {
    const { store, written } = recordWrites(memoryStore())
    const testEngine = await openTestEngine(t, asks, { store })
    const asked = await testEngine.task('go')
    const answer = userMessage({ taskId: asked.id, parts: [{ text: secret }] })
    const done = await testEngine.task(answer)
    const logged = (await testEngine.log(asked.id)).length
    assert.equal((await testEngine.task(answer)).id, done.id)
    assert.equal((await testEngine.log(asked.id)).length, logged)
    await assert.rejects(testEngine.send({ ...answer, parts: [{ text: 'other' }] }), { code: 'MESSAGE_ID_REUSED' })
    const hash = /"hash":"([^"]*)"/.exec(
      written()
        .split('\n')
        .find((append) => append.includes('redacted')) ?? '',
    )?.[1]
    const guessed = await crypto.subtle.digest('SHA-256', new TextEncoder().encode(canonicalText(answer)))
    assert.match(hash ?? '', /^[\da-f]{64}$/)
    assert.notEqual(
      hash,
      Buffer.from(guessed).toString('hex'),
      'a guess of the secret can be checked against the store',
    )
  })

  it('reaches the agent even if the log is read before the store confirms the write', async (t) => {
    const store = slowlyTelling(memoryStore({ leaseTtlMs: 10_000 }))
    const inTheMiddle: Agent = async ({ ask }: Turn) =>
      `It has ${(await ask('Password?', { sensitive: true })).length} letters`
    for (const agent of [asks, inTheMiddle]) {
      const here = await openTestEngine(t, agent, { store })
      const there = await openTestEngine(t, agent, { store })
      const { id } = await here.task('go')
      const stream = await there.subscribe(id)
      const done = await here.task({ taskId: id, parts: [{ text: secret }] })
      assert.equal(artifactText(done, agent === asks ? 'answer-2' : 'answer'), 'It has 7 letters')
      assert.doesNotMatch(JSON.stringify([done, await here.log(id), await stream.rest()]), /hunter2/)
    }
  })

  it('is refused if its task does not run here: the error says to retry, and nothing is lost', async (t) => {
    const { here, there } = await openReplicas(t, async function* ({ ask }: Turn) {
      yield `${(await ask('Password?', { sensitive: true })).length} letters`
    })
    const { id } = await here.start('go')
    await here.reaches(id, 'TASK_STATE_INPUT_REQUIRED')
    await assert.rejects(there.send({ taskId: id, parts: [{ text: secret }] }), {
      code: 'UNAVAILABLE',
      retryable: true,
    })
    const done = await here.task({ taskId: id, parts: [{ text: secret }] })
    assert.equal(artifactText(done), '7 letters')
  })
})

describe('a task that needs credentials', () => {
  const schemes = { github: { httpAuthSecurityScheme: { scheme: 'bearer' } } }

  it('stops in AUTH_REQUIRED, explains it to people, and tells programs what it needs [B-155 B-161]', async (t) => {
    const testEngine = await openTestEngine(t, () => authRequired('Sign in at GitHub', { schemes }))
    const { status } = await testEngine.task('go')
    assert.equal(short(status.state), 'AUTH_REQUIRED')
    assert.deepEqual(status.message?.parts, [
      { text: 'Sign in at GitHub' },
      { data: { securitySchemes: schemes }, metadata: { [credentialsExtension]: { type: 'auth-request' } } },
    ])
    assert.deepEqual(status.message?.extensions, [credentialsExtension])
  })

  it('accepts messages while it waits, which grant nothing: the agent asks until it has the credentials [B-156 B-158]', async (t) => {
    const agent: Agent = ({ message }) => {
      const given = message.parts.find((part) => 'data' in part)?.data as Struct | undefined
      return given?.['credentials'] === 'let-me-in' ? 'Welcome' : authRequired('Sign in', { schemes, inBand: true })
    }
    const testEngine = await openTestEngine(t, agent)
    const { id } = await testEngine.task('go')
    for (const parts of [[{ text: 'please' }], [{ data: { credentials: 'guess' } }]]) {
      assert.equal(short((await testEngine.task({ taskId: id, parts })).status.state), 'AUTH_REQUIRED')
    }
    const metadata = { [credentialsExtension]: { type: 'credentials' } }
    const done = await testEngine.task({
      taskId: id,
      parts: [{ data: { scheme: 'github', credentials: 'let-me-in' }, metadata }],
    })
    assert.equal(short(done.status.state), 'COMPLETED')
    assert.doesNotMatch(JSON.stringify([done, await testEngine.log(id)]), /let-me-in|guess|please/)
  })

  it('may ask during a turn', async (t) => {
    const testEngine = await openTestEngine(t, async function* ({ ask }: Turn) {
      yield await ask('Sign in', { auth: true, schemes })
    })
    const { id } = await testEngine.start('go')
    const { status } = await testEngine.reaches(id, 'TASK_STATE_AUTH_REQUIRED')
    assert.equal(status.message?.parts.length, 2)
    // Out of band: messages of the task are not secrets then.
    assert.equal(artifactText(await testEngine.task({ taskId: id, parts: [{ text: 'done' }] })), 'done')
  })
})

for (const [name, begin] of Object.entries(crashingStores)) {
  describe(`after a crash, over ${name}, a secret`, () => {
    it('is requested again by the repeated turn, because it is not stored', async (t) => {
      const answers: string[] = []
      let works = false
      const agent: Agent = {
        resume: 'rerun',
        async *run({ ask }: Turn) {
          answers.push(await ask('Name?'), await ask('Password?', { sensitive: true }))
          if (!works) await new Promise(() => {})
          yield await ask('Sure?')
        },
      }
      const life = begin(t)
      const first = await openTestEngine(t, agent, life)
      const { id } = await first.start('go')
      const asks = async (testEngine: TestEngine, question: string): Promise<void> =>
        eventually(async () => textOfMessage((await testEngine.get(id)).status.message) === question, question)
      await asks(first, 'Name?')
      await first.start({ taskId: id, parts: [{ text: 'Ann' }] })
      await asks(first, 'Password?')
      await first.start({ taskId: id, parts: [{ text: secret }] })
      await eventually(() => answers.length === 2)

      works = true
      const second = await openTestEngine(t, agent, await life.crash())
      const questions = async (): Promise<number> =>
        (await second.log(id)).filter(({ body }) => body.type === 'question').length
      await eventually(async () => (await questions()) === 3)
      await asks(second, 'Password?')
      await second.start({ taskId: id, parts: [{ text: 'hunter3' }] })
      await asks(second, 'Sure?')
      const done = await second.task({ taskId: id, parts: [{ text: 'yes' }] })
      assert.deepEqual(answers, ['Ann', secret, 'Ann', 'hunter3'])
      assert.equal(artifactText(done), 'yes')
      assert.doesNotMatch(JSON.stringify(done.history), /hunter/)
    })

    it('of the first message is a recognizable placeholder when its turn runs again', async (t) => {
      const seen: boolean[] = []
      const agent: Agent = {
        resume: 'rerun',
        async *run({ message }: Turn) {
          seen.push(isRedacted(message))
          if (seen.length === 1) await new Promise(() => {})
          yield isRedacted(message) ? inputRequired('Once more, please', { sensitive: true }) : 'ok'
        },
      }
      const life = begin(t)
      const { id } = await (await openTestEngine(t, agent, life)).start({ parts: [secretPart] })
      const second = await openTestEngine(t, agent, await life.crash())
      assert.equal(
        textOfMessage((await second.reaches(id, 'TASK_STATE_INPUT_REQUIRED')).status.message),
        'Once more, please',
      )
      assert.deepEqual(seen, [false, true])
    })
  })
}
