/** Parts of messages and artifacts: every kind, in both directions, in the shape of each dialect. */
import assert from 'node:assert/strict'
import { artifact, data, file } from '@parley/a2a'
import type { Json, Part } from '@parley/a2a'
import { sendForTask } from '../scenario.ts'
import type { Scenario } from '../scenario.ts'
import { artifactUpdateIn, partsName, messageParams, taskIn } from '../spelling.ts'
import type { Form } from '../spelling.ts'

const bytes = 'AAH/gA=='

/** Each kind of part in the model, and in the two forms of 0.x. */
const kinds: readonly { readonly part: Part; readonly json: unknown; readonly proto: unknown }[] = [
  { part: { text: 'plain' }, json: { kind: 'text', text: 'plain' }, proto: { text: 'plain' } },
  {
    part: { text: '# Title', mediaType: 'text/markdown', metadata: { page: 1 } },
    json: {
      kind: 'text',
      text: '# Title',
      metadata: { page: 1, 'a2a.compat/part': { mediaType: 'text/markdown' } },
    },
    proto: { text: '# Title', metadata: { page: 1, 'a2a.compat/part': { mediaType: 'text/markdown' } } },
  },
  {
    part: { raw: bytes, filename: 'a.bin', mediaType: 'application/x-a' },
    json: { kind: 'file', file: { name: 'a.bin', mimeType: 'application/x-a', bytes } },
    proto: { file: { name: 'a.bin', mimeType: 'application/x-a', fileWithBytes: bytes } },
  },
  {
    part: { url: 'https://example.com/a.pdf', filename: 'a.pdf', mediaType: 'application/pdf' },
    json: { kind: 'file', file: { name: 'a.pdf', mimeType: 'application/pdf', uri: 'https://example.com/a.pdf' } },
    proto: { file: { name: 'a.pdf', mimeType: 'application/pdf', fileWithUri: 'https://example.com/a.pdf' } },
  },
  {
    part: { data: { rows: [1, 2.5, null], nested: { data: { ok: true } } } },
    json: { kind: 'data', data: { rows: [1, 2.5, null], nested: { data: { ok: true } } } },
    proto: { data: { data: { rows: [1, 2.5, null], nested: { data: { ok: true } } } } },
  },
]

/** 0.x has objects only: anything else is wrapped and marked. */
const scalars: readonly Json[] = [null, 0, -1.5, true, false, '', 'text', [], [{ a: 1 }, null]]

function written(form: Form): readonly unknown[] {
  return kinds.map(({ part, json, proto }) => (form === '1.x' ? part : form === '0.x JSON-RPC' ? json : proto))
}

function wrapped(form: Form, value: Json): unknown {
  const metadata = { data_part_compat: true }
  if (form === '1.x') return { data: value }
  return form === '0.x JSON-RPC' ? { kind: 'data', data: { value }, metadata } : { data: { data: { value } }, metadata }
}

export const parts: readonly Scenario[] = [
  {
    name: 'parts of every kind reach the agent and return unchanged [J-4 J-5 T-17]',
    async check({ open }) {
      const peer = open(({ message }) => artifact('mirror', { parts: message.parts }))
      const sent = kinds.map(({ part }) => part)
      const task = await sendForTask(peer, sent)
      assert.deepEqual(task.artifacts?.[0]?.parts, sent)
      assert.deepEqual(task.history?.[0]?.parts, sent)
      assert.deepEqual((await peer.get(task.id)).artifacts, task.artifacts)
    },
  },
  {
    name: 'each kind of part is read and written in the format of its dialect [B-6 J-1 S2-9]',
    async check({ open, form }) {
      const peer = open(({ message }) => artifact('mirror', { parts: message.parts }))
      const { payload } = await peer.raw.call('SendMessage', messageParams(''), {
        bend: (sent) => ({ ...sent, message: { ...sent.message, [partsName(form)]: written(form) } }),
      })
      const task = taskIn(form, payload)
      assert.deepEqual(task.artifacts[0].parts, written(form))
      assert.deepEqual(task.history[0][partsName(form)], written(form))
    },
  },
  {
    name: 'data may be any value, including null: 0.x gets it wrapped and marked, and returns it unwrapped [J-5 J-6]',
    async check({ open, form }) {
      const seen: (readonly Part[])[] = []
      const peer = open(({ message }) => {
        seen.push(message.parts)
        return artifact('mirror', { parts: message.parts })
      })
      const sent = scalars.map((value) => ({ data: value }))
      const task = await sendForTask(peer, sent)
      assert.deepEqual(seen, [sent])
      assert.deepEqual(task.artifacts?.[0]?.parts, sent)
      const { payload } = await peer.raw.call('GetTask', { id: task.id })
      assert.deepEqual(
        payload.artifacts[0].parts,
        scalars.map((value) => wrapped(form, value)),
      )
    },
  },
  {
    name: 'each yielded value is an artifact: text, data, files, named ones with all their fields [B-46 B-61]',
    async check({ open, form }) {
      const named = { name: 'report', description: 'all of it', metadata: { pages: 2 } }
      const peer = open(function* () {
        yield data({ answer: 42 })
        yield file(new Uint8Array([0, 1, 255, 128]), { name: 'a.bin', mediaType: 'application/x-a' })
        yield file('https://example.com/b')
        yield artifact('r-1', { text: 'see', data: null, ...named })
      })
      const task = await sendForTask(peer, 'all')
      assert.deepEqual(task.artifacts, [
        { artifactId: 'data', parts: [{ data: { answer: 42 } }] },
        {
          artifactId: 'file',
          name: 'a.bin',
          parts: [{ raw: bytes, filename: 'a.bin', mediaType: 'application/x-a' }],
        },
        { artifactId: 'file.2', parts: [{ url: 'https://example.com/b' }] },
        { artifactId: 'r-1', ...named, parts: [{ text: 'see' }, { data: null }] },
      ])
      const { frames } = await peer.raw.stream('SendStreamingMessage', messageParams('again'))
      const updates = frames
        .map(({ payload }) => artifactUpdateIn(form, payload))
        .filter((update) => update !== undefined)
      const { payload } = await peer.raw.call('GetTask', { id: taskIn(form, frames[0]?.payload).id })
      assert.deepEqual(
        updates.map((update) => update.artifact),
        payload.artifacts,
      )
    },
  },
  {
    name: 'metadata of a message, an artifact, a status and parts is kept [B-146 T-10]',
    async check({ open }) {
      const uri = 'https://example.com/ext/v1'
      const peer = open(function* ({ message }) {
        yield { state: 'TASK_STATE_WORKING', message: { parts: [{ text: 'on it' }], metadata: { [uri]: { step: 1 } } } }
        yield artifact('a', { text: 'x', metadata: message.metadata ?? {} })
      })
      const said = { parts: [{ text: 'hi', metadata: { deep: { er: [null] } } }], metadata: { [uri]: { of: 'mine' } } }
      const task = await sendForTask(peer, { ...said, extensions: [uri] })
      assert.deepEqual(task.artifacts?.[0]?.metadata, { [uri]: { of: 'mine' } })
      const [mine, status] = task.history ?? []
      assert.deepEqual([mine?.parts, mine?.metadata, mine?.extensions], [said.parts, said.metadata, [uri]])
      assert.deepEqual(status?.metadata, { [uri]: { step: 1 } })
    },
  },
]
