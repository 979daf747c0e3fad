import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, describe, it } from 'node:test'
import type { Turn } from '@parley/a2a'
import type { LoopToolCall } from './tool.ts'
import { functionTools } from './function-tools.ts'

const folder = mkdtempSync(join(tmpdir(), 'parley-functions-'))
after(() => rmSync(folder, { recursive: true }))

let files = 0
async function open(source: string, allow?: readonly string[]) {
  files += 1
  const path = `tools-${files}.mjs`
  writeFileSync(join(folder, path), source)
  return functionTools({ path, baseDir: folder, allow, timeoutMs: 5 })
}

const turn = {} as Turn
const call: LoopToolCall = {
  id: 'c1',
  turn,
  signal: new AbortController().signal,
  span: {
    spanId: 'b'.repeat(16),
    startedAt: 0,
    traceparent: `00-${'a'.repeat(32)}-${'b'.repeat(16)}-01`,
    set() {},
    end() {},
  },
  save: async () => {},
  startedChild: async () => {},
  progress() {},
  ask: async (question) => ({ messageId: 'm', role: 'ROLE_USER', parts: question.parts }),
}

async function run(source: string, input = {}) {
  const [tool] = await (await open(source)).tools(turn)
  return tool?.run?.(input, call)
}

describe('functions of a file', () => {
  it('are tools by their names, with what they say of themselves [S2-33]', async () => {
    const source = await open(`
      export const getWeather = { description: 'The weather', input: { type: 'object', required: ['city'] }, run: () => 'fine' }
      export const other = { name: 'web.search', title: 'Search', run() { return this.title } }
      export const version = 3
      export function helper() {}`)
    const tools = await source.tools(turn)
    assert.deepEqual(
      tools.map(({ name, title, description, inputSchema, timeoutMs }) => [
        name,
        title,
        description,
        inputSchema,
        timeoutMs,
      ]),
      [
        ['getWeather', 'Get weather', 'The weather', { type: 'object', required: ['city'] }, 5],
        ['web.search', 'Search', 'Search', { type: 'object' }, 5],
      ],
    )
    assert.deepEqual(await tools[1]?.run?.({}, call), { parts: [{ text: 'Search' }] })
    assert.deepEqual(
      (await source.skills(call.signal)).map(({ id, name, tags }) => [id, name, tags]),
      [
        ['getWeather', 'Get weather', ['tool', 'function', 'read']],
        ['web.search', 'Search', ['tool', 'function', 'search']],
      ],
    )
  })

  it('may be listed in one export, and only those that are allowed are offered [S0-28]', async () => {
    const listed = `export default [{ name: 'a_1', run() {} }, { name: 'a_2', run() {} }, { name: 'b', run() {} }]`
    const names = async (allow?: readonly string[]) =>
      (await (await open(listed, allow)).tools(turn)).map(({ name }) => name)
    assert.deepEqual(await names(), ['a_1', 'a_2', 'b'])
    assert.deepEqual(await names(['a_*']), ['a_1', 'a_2'])
    const grouped = await open(`export const tools = { x: { run: () => 1 } }; export const y = { run: () => 2 }`)
    assert.deepEqual(
      (await grouped.tools(turn)).map(({ name }) => name),
      ['x'],
    )
  })

  it('may say with Zod what they take, and get what it makes of it', async () => {
    const zod = import.meta.resolve('zod')
    const [tool] = await (
      await open(`
      import { z } from '${zod}'
      export const add = { input: z.object({ a: z.number(), b: z.number().default(2) }), run: ({ a, b }) => a + b }`)
    ).tools(turn)
    assert.deepEqual(tool?.inputSchema['required'], ['a'])
    assert.deepEqual(await tool?.run?.({ a: 1 }, call), { parts: [{ data: 3 }] })
    await assert.rejects(tool?.run?.({ a: 'x' }, call) ?? Promise.resolve())
  })

  it('give back text, data, bytes, parts or nothing', async () => {
    const given = async (value: string) => run(`export const f = { run: () => ${value} }`)
    assert.deepEqual(await given(`'words'`), { parts: [{ text: 'words' }] })
    assert.deepEqual(await given(`({ a: [1] })`), { parts: [{ data: { a: [1] } }] })
    assert.deepEqual(await given(`new Uint8Array([1, 2])`), { parts: [{ raw: 'AQI=' }] })
    assert.deepEqual(await given(`({ parts: [{ url: 'https://x.test' }] })`), { parts: [{ url: 'https://x.test' }] })
    assert.deepEqual(await given(`undefined`), { parts: [{ text: '' }] })
    await assert.rejects(given(`10n`))
  })

  it('may ask a question, and knows its call and its trace', async () => {
    const outcome = await run(
      `export const f = { async run(_, { ask, id, traceparent }) { return id + (await ask('Why?')).parts[0].text + traceparent } }`,
    )
    assert.deepEqual(outcome, { parts: [{ text: `c1Why?${call.span.traceparent}` }] })
  })

  it('that do not exist are an error that names the file', async () => {
    await assert.rejects(open('export const a = 1'), /tools-\d+\.mjs exports no tool/)
    await assert.rejects(
      functionTools({ path: './none.ts', baseDir: folder, allow: undefined, timeoutMs: 1 }),
      /the file \.\/none\.ts does not exist/,
    )
  })
})
