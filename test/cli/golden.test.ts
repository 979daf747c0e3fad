/**
 * The output of every command in every format, delivery and binding, byte by byte except ids, times and addresses. One file per
 * command line: all bindings must print the same. `PARLEY_GOLDEN=write` writes the files.
 */
import assert from 'node:assert/strict'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { runInMemory } from '../../packages/cli/src/testing/memory-terminal.ts'
import { startFixtureAgent, type FixtureAgent } from './fixture/fixture-agent.ts'
import { goldenCases, type GoldenCase } from './golden-cases.ts'

const isWriting = process.env['PARLEY_GOLDEN'] === 'write'
const bindings = ['jsonrpc', 'rest', 'grpc'] as const
const modes = [
  ['text', []],
  ['text, --stream', ['--stream']],
  ['json', ['-o', 'json']],
  ['json, --stream', ['-o', 'json', '--stream']],
] as const

/** Printed if a wait takes longer than a second. */
const progress = /^(State: |Waiting for \d).*\n/gm

let agent: FixtureAgent
before(async () => void (agent = await startFixtureAgent({ grpc: true })))
after(() => agent.close())

for (const one of goldenCases)
  describe(`the output of ${one.name}`, () => {
    let written: string | undefined
    for (const binding of bindings)
      it(`is the same over ${binding}`, async () => {
        const output = await outputOf(one, binding)
        const file = join(import.meta.dirname, 'golden', `${one.name}.txt`)
        if (isWriting && written === undefined) await writeFile(file, output)
        written ??= output
        assert.equal(output, await readFile(file, 'utf8'), 'PARLEY_GOLDEN=write writes it')
      })
  })

/** The four outputs of a command line over one binding. */
async function outputOf(one: GoldenCase, binding: string): Promise<string> {
  const sections: string[] = []
  for (const [title, options] of modes) {
    // Tasks of another section would appear in lists.
    await using mine =
      one.name === 'task-list'
        ? await startFixtureAgent({ grpc: true })
        : { ...agent, async [Symbol.asyncDispose]() {} }
    const cwd = await mkdtemp(join(tmpdir(), 'a2a-golden-'))
    const connection = ['-a', mine.url, '--transport', binding]
    const taskId = one.before === undefined ? '' : await startedTask(one.before, one.waits ?? true, connection)
    const args = one.args.map((word) => word.replace('<task>', taskId))
    const { code, stdout, stderr } = await runInMemory([...args, ...connection, ...options], { cwd })
    await rm(cwd, { recursive: true })
    const text = [
      `## ${title}: exit ${code}`,
      '### stdout',
      stdout,
      '### stderr',
      stderr.replaceAll(progress, ''),
      '',
    ].join('\n')
    sections.push(withoutVariables(text.replaceAll(cwd, '<folder>'), mine, binding))
  }
  return sections.join('\n')
}

async function startedTask(text: string, waits: boolean, connection: readonly string[]): Promise<string> {
  const args = ['send', text, '-o', 'json', ...(waits ? [] : ['--async']), ...connection]
  const { stdout, code } = await runInMemory(args)
  assert.equal(code, 0, stdout)
  return (JSON.parse(stdout) as { task: { id: string } }).task.id
}

/** Replaces what differs between two runs: ids get numbers in the order in which they appear. */
function withoutVariables(text: string, { url, grpcPort }: FixtureAgent, binding: string): string {
  const ids = new Map<string, string>()
  return (
    text
      .replaceAll(url, '<agent>')
      .replaceAll(new URL(url).host, '<host>')
      .replaceAll(`127.0.0.1:${grpcPort}`, '<grpc>')
      .replaceAll(` --transport ${binding}`, '')
      .replaceAll(/[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g, (id) => {
        const name = ids.get(id) ?? `<id-${ids.size + 1}>`
        ids.set(id, name)
        return name
      })
      // The code of the wire is that of the binding.
      .replaceAll(/("a2aCode":\s?)[^,}\n]+/g, '$1"<wire code>"')
      .replaceAll(/^A2A Code: .*$/gm, 'A2A Code: <wire code>')
      .replaceAll(/\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z/g, '<time>')
  )
}
