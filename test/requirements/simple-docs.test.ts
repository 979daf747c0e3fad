/** docs/guides/simple.md is correct: its program runs and prints the documented output. */
import assert from 'node:assert/strict'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { after, it } from 'node:test'
import { root, runToEnd } from '../examples/program.ts'
import { freePort } from '../free-port.ts'

it('runs the program of docs/guides/simple.md', { timeout: 120_000 }, async () => {
  const page = await readFile(join(root, 'docs/guides/simple.md'), 'utf8')
  const [, program = ''] = /```ts\n([\s\S]*?)```/.exec(page) ?? []
  const folder = await mkdtemp(join(import.meta.dirname, '.simple-'))
  after(() => rm(folder, { recursive: true }))
  const file = join(folder, 'main.ts')
  await writeFile(file, program.replaceAll('4200', String(await freePort())))
  assert.deepEqual(await runToEnd(file), ['You said Hello'])
})
