/** What a crash leaves behind, and how it is recovered. */
import assert from 'node:assert/strict'
import { describe, it, type TestContext } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Agent, ResumeState, Turn } from '../../agents/agent.ts'
import { artifact, inputRequired, status } from '../../agents/reports.ts'
import type { TestEngine, TestEngineOptions } from '../../testing/fixtures/test-engine.ts'
import {
  artifactText,
  chunksOf,
  eventually,
  historyOf,
  openTestEngine,
  textOfMessage,
  short,
  statesOf,
  typesOf,
} from '../../testing/fixtures/test-engine.ts'
import { type CrashingStore, crashingStores } from '../../testing/fixtures/crashing-store.ts'
import { faultyStore } from '../../testing/fixtures/faulty-store.ts'

const forever = (): Promise<never> => new Promise(() => {})
/** Runs forever at the first attempt, and reports what it finds at the next. */
function rerunning(resumed: ResumeState[], say: (turn: Turn) => AsyncGenerator<string> = plain): Agent {
  return {
    resume: 'rerun',
    async *run(turn: Turn) {
      if (turn.resumed !== undefined) {
        resumed.push(turn.resumed)
        yield* say(turn)
        return
      }
      await turn.checkpoint({ page: 1 })
      yield 'first try'
      await turn.checkpoint({ page: 2 })
      await forever()
    },
  }
}
async function* plain({ text }: Turn): AsyncGenerator<string> {
  yield `did ${text}`
}
const hasCheckpoints =
  (count: number) =>
  async (testEngine: TestEngine, id: string): Promise<void> =>
    eventually(async () => typesOf(await testEngine.log(id)).filter((type) => type === 'checkpoint').length === count)

for (const [name, begin] of Object.entries(crashingStores)) {
  describe(`after a crash, over ${name},`, () => {
    /** An engine, a task that ran on it, and the engine that replaces it after the crash. */
    async function crashed(
      t: TestContext,
      agent: Agent,
      before: (testEngine: TestEngine, mortal: CrashingStore) => Promise<string>,
      after: TestEngineOptions = {},
    ) {
      const life = begin(t)
      const first = await openTestEngine(t, agent, life)
      const id = await before(first, life)
      const next = await life.crash()
      const second = await openTestEngine(t, agent, { ...after, ...next })
      return { second, id, next }
    }

    it('an agent without a restart option has failed, with a reason [B-52]', async (t) => {
      const { second, id } = await crashed(
        t,
        async function* () {
          yield 'half'
          await forever()
        },
        async (testEngine) => (await testEngine.start('go')).id,
      )
      const task = await second.reaches(id, 'TASK_STATE_FAILED')
      assert.equal(textOfMessage(task.status.message), 'The task was interrupted by a restart')
      const logged = second.lines.filter(({ message }) => message.includes('interrupted turn'))
      assert.deepEqual(
        logged.map(({ level, message }) => [level, message]),
        [['warn', 'an interrupted turn failed: its agent does not declare `resume`']],
      )
      await assert.rejects(second.send({ taskId: id }), { code: 'UNSUPPORTED_OPERATION' })
    })

    it('a repeatable agent runs again, with its message, its checkpoint and its task [B-52]', async (t) => {
      const resumed: ResumeState[] = []
      const { second, id } = await crashed(t, rerunning(resumed), async (testEngine) => {
        const { id } = await testEngine.start('go')
        await hasCheckpoints(2)(testEngine, id)
        return id
      })
      const task = await second.reaches(id, 'TASK_STATE_COMPLETED')
      assert.equal(artifactText(task), 'did go', 'begun anew, not appended to')
      assert.equal(resumed.length, 1)
      assert.equal(resumed[0]?.attempt, 2)
      assert.deepEqual(resumed[0]?.checkpoint, { page: 2 })
      assert.equal(artifactText(resumed[0]?.task ?? task), 'first try')
      assert.deepEqual(historyOf(task), ['go'])
    })

    it('a turn has the checkpoint of the previous turn, and then its own [B-52]', async (t) => {
      const seen: unknown[] = []
      const agent: Agent = {
        resume: 'rerun',
        async *run(turn: Turn) {
          seen.push([turn.lastCheckpoint, turn.resumed?.checkpoint])
          if (turn.text === 'one') {
            await turn.checkpoint({ session: 1 })
            yield inputRequired('And then?')
          } else if (turn.resumed === undefined) {
            await turn.checkpoint({ session: 2 })
            await forever()
          }
        },
      }
      const { second, id } = await crashed(t, agent, async (testEngine) => {
        const { id } = await testEngine.task('one')
        await testEngine.start({ taskId: id, parts: [{ text: 'two' }] })
        await hasCheckpoints(2)(testEngine, id)
        return id
      })
      await second.reaches(id, 'TASK_STATE_COMPLETED')
      const [one, two] = [{ session: 1 }, { session: 2 }]
      assert.deepEqual(seen, [
        [undefined, undefined],
        [one, undefined],
        [one, two],
      ])
    })

    it('an agent may continue where the log ends [B-52]', async (t) => {
      const agent: Agent = {
        resume: 'rerun',
        async *run({ resumed }: Turn) {
          const done =
            resumed?.task.artifacts?.[0]?.parts.map((part) => ('text' in part ? part.text : '')).join('').length ?? 0
          for (let tick = done; tick < 6; tick += 1) {
            yield artifact('ticks', { text: `${tick}`, append: tick > 0 })
            if (tick === 2 && resumed === undefined) await forever()
          }
          yield artifact('ticks', { last: true })
        },
      }
      const { second, id } = await crashed(t, agent, async (testEngine) => {
        const { id } = await testEngine.start('go')
        await eventually(async () => artifactText(await testEngine.get(id), 'ticks') === '012')
        return id
      })
      assert.equal(artifactText(await second.reaches(id, 'TASK_STATE_COMPLETED'), 'ticks'), '012345')
    })

    it('an agent gets how much of its output since its last checkpoint is in the log [B-52]', async (t) => {
      const words = ['a', 'b', 'c', 'd', 'e']
      const agent: Agent = {
        resume: 'rerun',
        async *run(turn: Turn) {
          const { checkpoint = 0, reports = 0 } = turn.resumed ?? {}
          const from = Number(checkpoint) + reports
          if (turn.resumed === undefined) await turn.checkpoint(0)
          for (let at = from; at < words.length; at += 1) {
            yield artifact('words', { text: words[at] as string, append: at > 0 })
            if (at === 1) void turn.checkpoint(2)
            if (at === 3 && turn.resumed === undefined) await forever()
          }
        },
      }
      const { second, id } = await crashed(t, agent, async (testEngine) => {
        const { id } = await testEngine.start('go')
        await eventually(async () => artifactText(await testEngine.get(id), 'words') === 'abcd')
        return id
      })
      assert.equal(artifactText(await second.reaches(id, 'TASK_STATE_COMPLETED'), 'words'), 'abcde')
    })

    it('an agent that left work running elsewhere reattaches to it [B-52]', async (t) => {
      const calls: string[] = []
      const agent: Agent = {
        resume: 'reattach',
        async *run(turn: Turn) {
          calls.push('run')
          await turn.checkpoint({ job: 7 })
          yield status('started')
          await forever()
        },
        async *reattach({ resumed }: Turn) {
          calls.push('reattach')
          yield `job ${JSON.stringify(resumed?.checkpoint)}`
        },
      }
      const { second, id } = await crashed(t, agent, async (testEngine) => {
        const { id } = await testEngine.start('go')
        await hasCheckpoints(1)(testEngine, id)
        return id
      })
      assert.equal(artifactText(await second.reaches(id, 'TASK_STATE_COMPLETED')), 'job {"job":7}')
      assert.deepEqual(calls, ['run', 'reattach'])
    })

    it('a requested cancel is carried out [B-52 B-110]', async (t) => {
      const { second, id } = await crashed(t, rerunning([]), async (testEngine, life) => {
        const { id } = await testEngine.start('go')
        await hasCheckpoints(2)(testEngine, id)
        life.crashAfter((body) => body.type === 'cancel')
        await assert.rejects(testEngine.cancel(id), { code: 'UNAVAILABLE' })
        return id
      })
      await second.reaches(id, 'TASK_STATE_CANCELED')
    })

    it('a waiting message gets its turn, and the finished turn is not run again [B-52]', async (t) => {
      const gate = Promise.withResolvers<void>()
      const turns: string[] = []
      const agent: Agent = async ({ text }) => {
        turns.push(text)
        if (text === 'first') await gate.promise
        return `did ${text}`
      }
      const { second, id } = await crashed(t, agent, async (testEngine, life) => {
        const { id } = await testEngine.start('first')
        await testEngine.start({ taskId: id, parts: [{ text: 'second' }] })
        life.crashAfter((body) => body.type === 'turn-ended')
        gate.resolve()
        await life.crashed
        return id
      })
      const done = await second.reaches(id, 'TASK_STATE_COMPLETED')
      assert.equal(artifactText(done), 'did first')
      assert.equal(artifactText(done, 'answer-2'), 'did second')
      assert.deepEqual(turns, ['first', 'second'])
    })

    it('an answer whose turn had not begun starts it, whatever the agent declares [B-52]', async (t) => {
      const agent: Agent = ({ text }) => (text === 'go' ? inputRequired('Which?') : `to ${text}`)
      const { second, id } = await crashed(t, agent, async (testEngine, life) => {
        const { id } = await testEngine.task('go')
        life.crashAfter((body) => body.type === 'message')
        await assert.rejects(testEngine.send({ taskId: id, parts: [{ text: 'Rome' }] }), { code: 'UNAVAILABLE' })
        return id
      })
      assert.equal(artifactText(await second.reaches(id, 'TASK_STATE_COMPLETED'), 'answer-2'), 'to Rome')
    })

    it('a task that waits for input keeps waiting, and is answered like any other', async (t) => {
      const agent: Agent = ({ text }) => (text === 'go' ? inputRequired('Which?') : `to ${text}`)
      const { second, id } = await crashed(t, agent, async (testEngine) => (await testEngine.task('go')).id)
      await sleep(20)
      assert.equal(short((await second.get(id)).status.state), 'INPUT_REQUIRED')
      assert.equal(artifactText(await second.task({ taskId: id, parts: [{ text: 'Rome' }] }), 'answer-2'), 'to Rome')
    })

    it('an agent that is no longer served has failed, with a reason [B-52]', async (t) => {
      const { second, id } = await crashed(
        t,
        rerunning([]),
        async (testEngine) => (await testEngine.start('go', { as: { agent: 'old' } })).id,
        {
          lookUp: (name) => (name === 'old' ? undefined : () => 'hi'),
        },
      )
      await eventually(
        async () => short((await second.store.tasks.load(id))?.status.state ?? 'TASK_STATE_UNSPECIFIED') === 'FAILED',
      )
      assert.equal(
        textOfMessage((await second.store.tasks.load(id))?.status.message),
        'The agent is no longer available on this server',
      )
    })

    it('earlier answers are replayed in order to an agent that asks again [B-52]', async (t) => {
      const asked: string[] = []
      const agent: Agent = {
        resume: 'rerun',
        async *run(turn: Turn) {
          const attempt = turn.resumed?.attempt ?? 1
          const city = await turn.ask('Which city?')
          asked.push(`${attempt}: ${city}`)
          const day = await turn.ask('Which day?')
          asked.push(`${attempt}: ${day}`)
          yield `${turn.text} ${city} ${day}`
        },
      }
      const { second, id } = await crashed(t, agent, async (testEngine) => {
        const { id } = await testEngine.task('go')
        const next = await testEngine.task({ taskId: id, parts: [{ text: 'Rome' }] })
        assert.equal(textOfMessage(next.status.message), 'Which day?')
        return id
      })
      await eventually(() => asked.length === 2)
      const waiting = await second.reaches(id, 'TASK_STATE_INPUT_REQUIRED')
      assert.equal(textOfMessage(waiting.status.message), 'Which day?')
      const done = await second.task({ taskId: id, parts: [{ text: 'Monday' }] })
      assert.equal(artifactText(done), 'go Rome Monday')
      assert.deepEqual(asked, ['1: Rome', '2: Rome', '2: Monday'])
      assert.equal(typesOf(await second.log(id)).filter((type) => type === 'question').length, 2)
    })

    it('a question during a turn fails if the agent cannot run again [B-52]', async (t) => {
      const { second, id } = await crashed(
        t,
        async (turn) => turn.ask('Which?'),
        async (testEngine) => (await testEngine.task('go')).id,
      )
      await second.reaches(id, 'TASK_STATE_FAILED')
    })

    it('a stream continues from its cursor, without loss and repetition [B-109]', async (t) => {
      const agent: Agent = {
        resume: 'rerun',
        async *run({ resumed }: Turn) {
          yield 'a'
          yield 'b'
          if (resumed === undefined) await forever()
        },
      }
      let early: readonly string[] = []
      let lastEventId = 0
      const { second, id } = await crashed(t, agent, async (testEngine) => {
        const stream = await testEngine.stream('go')
        const items = await stream.through((item) => chunksOf([item])[0] === 'b')
        early = chunksOf(items)
        lastEventId = items.at(-1)?.seq ?? 0
        const first = items[0]?.event
        assert.ok(first !== undefined && 'task' in first)
        return first.task.id
      })
      const rest = await (await second.subscribe(id, { lastEventId })).rest()
      assert.deepEqual([...early, ...chunksOf(rest)], ['a', 'b', 'a', 'b'])
      assert.equal(statesOf(rest).at(-1), 'COMPLETED')
      const whole = await (await second.subscribe(id, { lastEventId: 0 })).rest()
      assert.deepEqual(chunksOf(whole), ['a', 'b', 'a', 'b'])
    })

    it('a repeated message finds its task [B-163]', async (t) => {
      const message = { messageId: 'm1' }
      const { second, id } = await crashed(t, rerunning([]), async (testEngine) => (await testEngine.start(message)).id)
      const again = await second.task(message)
      assert.equal(again.id, id)
      assert.equal(short(again.status.state), 'COMPLETED')
    })

    it('more tasks than one batch are resumed when the engine starts [B-52]', async (t) => {
      const ids: string[] = []
      const { second } = await crashed(
        t,
        async function* () {
          yield status('working')
          await forever()
        },
        async (testEngine) => {
          const tasks = await Promise.all(Array.from({ length: 150 }, () => testEngine.start('go')))
          ids.push(...tasks.map(({ id }) => id))
          return ids[0] as string
        },
      )
      const states = await Promise.all(ids.map(async (id) => short((await second.get(id)).status.state)))
      assert.deepEqual([...new Set(states)], ['FAILED'])
    })

    it('a resumed turn has its full time, although the earlier deadline has passed [B-52]', async (t) => {
      const agent: Agent = {
        resume: 'rerun',
        run: async ({ resumed }) => (resumed === undefined ? forever() : 'in time'),
      }
      const options = { turnTimeoutMs: 60_000 }
      const life = begin(t)
      const { id } = await (await openTestEngine(t, agent, { ...life, options })).start('go')
      const next = await life.crash()
      const now = (): number => next.now() + options.turnTimeoutMs
      // So slow that due times are checked several times before the log shows that the turn has started again.
      const store = faultyStore(next.store, { before: (method) => method === 'tasks.append' && sleep(50) })
      const second = await openTestEngine(t, agent, { ...next, now, store, options })
      const task = await second.reaches(id, 'TASK_STATE_COMPLETED')
      assert.equal(artifactText(task), 'in time')
    })

    it('a second crash is survived like the first [B-52]', async (t) => {
      const attempts: unknown[] = []
      const agent: Agent = {
        resume: 'rerun',
        async *run(turn: Turn) {
          const attempt = turn.resumed?.attempt ?? 1
          attempts.push([attempt, turn.resumed?.checkpoint])
          await turn.checkpoint(attempt)
          yield `try ${attempt}`
          if (attempt < 3) await forever()
        },
      }
      const { next, id } = await crashed(t, agent, async (testEngine) => {
        const { id } = await testEngine.start('go')
        await hasCheckpoints(1)(testEngine, id)
        return id
      })
      await eventually(() => attempts.length === 2)
      await eventually(
        async () => typesOf(await next.store.tasks.read(id, 0)).filter((type) => type === 'checkpoint').length === 2,
      )
      const third = await openTestEngine(t, agent, await next.crash())
      assert.equal(artifactText(await third.reaches(id, 'TASK_STATE_COMPLETED')), 'try 3')
      assert.deepEqual(attempts, [
        [1, undefined],
        [2, 1],
        [3, 2],
      ])
    })
  })
}
