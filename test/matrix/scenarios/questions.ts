/** Tasks that require input, which ends the turn and the stream, or credentials, which ends neither. */
import assert from 'node:assert/strict'
import { authRequired, inputRequired, status } from '@parley/a2a'
import type { Turn } from '@parley/a2a'
import { createGate, sendForTask } from '../scenario.ts'
import type { Scenario } from '../scenario.ts'
import { partsName, messageParams, stateIn, statusUpdateIn, taskIn } from '../spelling.ts'

/** Asks which city at its first turn, and answers at its second. */
async function* asksCity({ text, history }: Turn) {
  const said = await history()
  if (said.length < 2) yield inputRequired('Which city?')
  else yield `Weather in ${text}`
}

export const questions: readonly Scenario[] = [
  {
    name: 'a question ends the send; the answer continues the same task, and both are in its history [B-63 B-57 B-47 T-1]',
    async check({ open, form }) {
      const peer = open(asksCity)
      const asked = await sendForTask(peer, 'weather?')
      assert.equal(asked.status.state, 'TASK_STATE_INPUT_REQUIRED')
      assert.deepEqual(asked.status.message?.parts, [{ text: 'Which city?' }])
      assert.deepEqual([asked.status.message?.taskId, asked.status.message?.contextId], [asked.id, asked.contextId])
      const { payload } = await peer.raw.call('GetTask', { id: asked.id })
      assert.equal(payload.status.state, stateIn(form, 'TASK_STATE_INPUT_REQUIRED'))
      assert.equal(payload.status.message[partsName(form)][0].text, 'Which city?')
      const done = await sendForTask(peer, 'Oslo', { taskId: asked.id })
      assert.deepEqual([done.id, done.contextId], [asked.id, asked.contextId])
      assert.equal(done.status.state, 'TASK_STATE_COMPLETED')
      assert.deepEqual(
        done.history?.map(({ role, parts }) => [role, 'text' in parts[0]! ? parts[0].text : '']),
        [
          ['ROLE_USER', 'weather?'],
          ['ROLE_AGENT', 'Which city?'],
          ['ROLE_USER', 'Oslo'],
        ],
      )
    },
  },
  {
    name: 'a question closes the stream, in 0.x with final; the streamed answer begins with the task and continues it [B-91 B-97 B-102 T-5]',
    async check({ open, form }) {
      const peer = open(asksCity)
      const first = await peer.raw.stream('SendStreamingMessage', messageParams('weather?'))
      const question = statusUpdateIn(form, first.frames.at(-1)?.payload)
      assert.equal(question.status.state, stateIn(form, 'TASK_STATE_INPUT_REQUIRED'))
      assert.equal(question.final, form === '1.x' ? undefined : true)
      const taskId = question.taskId
      const second = await peer.raw.stream('SendStreamingMessage', messageParams('Oslo', { taskId }))
      const snapshot = taskIn(form, second.frames[0]?.payload)
      assert.equal(snapshot.id, taskId)
      assert.equal(snapshot.history.at(-1)[partsName(form)][0].text, 'Oslo')
      const end = statusUpdateIn(form, second.frames.at(-1)?.payload)
      assert.equal(end.status.state, stateIn(form, 'TASK_STATE_COMPLETED'))
      assert.ok(Number(second.frames[0]?.id) > Number(first.frames.at(-1)?.id))
    },
  },
  {
    name: 'an agent may ask during its turn, and streams that stay open deliver the question and what follows [B-91 B-97 B-94]',
    async check({ open, form }) {
      const peer = open(
        async function* (turn) {
          yield 'Weather in '
          yield await turn.ask('Which city?')
        },
        { keepOpenOnInputRequired: true },
      )
      const stream = peer.stream('weather?').frames()
      const received: string[] = []
      let final: boolean | undefined
      for await (const { event, final: isFinal } of stream) {
        if ('artifactUpdate' in event)
          received.push(event.artifactUpdate.artifact.parts.map((p) => ('text' in p ? p.text : '')).join(''))
        if (!('statusUpdate' in event)) continue
        const { taskId, status } = event.statusUpdate
        received.push(status.state)
        final = isFinal
        if (status.state !== 'TASK_STATE_INPUT_REQUIRED') continue
        assert.equal(isFinal, form === '1.x' ? undefined : false)
        await peer.send('Oslo', { taskId })
      }
      assert.deepEqual(received, [
        'TASK_STATE_WORKING',
        'Weather in ',
        'TASK_STATE_INPUT_REQUIRED',
        'TASK_STATE_WORKING',
        'Oslo',
        'TASK_STATE_COMPLETED',
      ])
      assert.equal(final, form === '1.x' ? undefined : true)
    },
  },
  {
    name: 'a request for credentials keeps the stream open, and the task continues when they arrive out of band [B-92 B-155 B-156]',
    async check({ open, form }) {
      const signedIn = createGate()
      const peer = open(async function* (turn) {
        // No message is needed: the sign-in is the answer.
        void turn.ask('Sign in at https://example.com', { auth: true }).catch(() => {})
        await signedIn.opened
        yield status('Signed in')
        yield 'mail'
      })
      const states: string[] = []
      for await (const { event, final } of peer.stream('mail?').frames()) {
        if (!('statusUpdate' in event)) continue
        const { state } = event.statusUpdate.status
        states.push(state)
        if (state !== 'TASK_STATE_AUTH_REQUIRED') continue
        assert.equal(final, form === '1.x' ? undefined : false)
        signedIn.open()
      }
      assert.deepEqual(states, [
        'TASK_STATE_WORKING',
        'TASK_STATE_AUTH_REQUIRED',
        'TASK_STATE_WORKING',
        'TASK_STATE_COMPLETED',
      ])
    },
  },
  {
    name: 'a message while credentials are missing reaches the agent that waits for them [B-156 B-161]',
    async check({ open }) {
      const peer = open(async function* (turn) {
        yield `as ${await turn.ask('Sign in, or say a name', { auth: true })}`
      })
      const asked = await sendForTask(peer, 'mail?')
      assert.equal(asked.status.state, 'TASK_STATE_AUTH_REQUIRED')
      const done = await sendForTask(peer, 'Ann', { taskId: asked.id })
      assert.deepEqual([done.status.state, done.artifacts?.[0]?.parts], ['TASK_STATE_COMPLETED', [{ text: 'as Ann' }]])
    },
  },
  {
    name: 'a send to an agent that needs credentials returns what it needs, and the next message is a new turn [B-63 B-155 B-156 S2-9]',
    async check({ open, form }) {
      const peer = open(async ({ text, history }) =>
        (await history()).length === 1 ? authRequired('Sign in at https://example.com') : `as ${text}`,
      )
      const asked = await sendForTask(peer, 'mail?')
      assert.equal(asked.status.state, 'TASK_STATE_AUTH_REQUIRED')
      const { payload } = await peer.raw.call('GetTask', { id: asked.id })
      assert.equal(payload.status.state, stateIn(form, 'TASK_STATE_AUTH_REQUIRED'))
      const done = await sendForTask(peer, 'Ann', { taskId: asked.id })
      assert.deepEqual(done.artifacts?.at(-1)?.parts, [{ text: 'as Ann' }])
    },
  },
]
