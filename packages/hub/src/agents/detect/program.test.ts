import assert from 'node:assert/strict'
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { after, describe, it } from 'node:test'
import type { DetectTarget } from './detect.ts'
import { requireProgram } from '../programs/find-program.ts'
import type { DiagnosedError } from './diagnosis.ts'
import { isCommand, isPackageRunner, resolveProgram } from './program.ts'

const cwd = mkdtempSync(join(tmpdir(), 'parley-program-'))
after(() => rmSync(cwd, { recursive: true }))
for (const [name, mode] of [
  ['script.mjs', 0o644],
  ['script.py', 0o644],
  ['run.js', 0o755],
  ['node', 0o755],
  ['python3', 0o755],
  ['npx', 0o755],
] as const) {
  writeFileSync(join(cwd, name), '')
  chmodSync(join(cwd, name), mode)
}

const env = { PATH: [cwd, '/nowhere'].join(delimiter) }
const parts = { fetch, signal: new AbortController().signal, onProgress() {}, cwd, env }
const read = (...target: readonly string[]) => resolveProgram(target as unknown as DetectTarget, parts)

describe('a program that is to be an agent', () => {
  it('is started by what runs it, where it does not run by itself', async () => {
    assert.deepEqual((await read('./script.mjs', '-v')).command, ['node', './script.mjs', '-v'])
    assert.deepEqual((await read('script.py')).command, ['python3', 'script.py'])
    assert.deepEqual((await read('./run.js')).command, ['./run.js'])
    await assert.rejects(read('./missing.mjs'), /the program \.\/missing\.mjs does not exist/)
  })

  it('that cannot be started is named with what to do, for detection and for health', async () => {
    const problem = (program: string) => {
      const requires = requireProgram(program, parts)
      return requires.then(
        () => assert.fail('it can be started'),
        (error: DiagnosedError) => [error.message, error.diagnosis.advice] as const,
      )
    }
    writeFileSync(join(cwd, 'shout.sh'), '')
    assert.deepEqual(await problem('./shout.sh'), [
      `the program ./shout.sh is not executable. Run chmod +x ${cwd}/shout.sh, or name the program that runs it`,
      `Run chmod +x ${cwd}/shout.sh, or name the program that runs it.`,
    ])
    assert.deepEqual(await problem('~/shout.sh'), [
      'the program ~/shout.sh does not exist',
      `~ is not expanded: use the full path. Relative paths start at ${cwd}.`,
    ])
  })

  it('is called after the package or the script that it runs', async () => {
    const name = async (...target: readonly string[]) => (await read(...target)).name
    assert.equal(await name('./script.mjs'), 'script')
    assert.equal(await name('./run.js', '--x'), 'run')
    assert.equal(await name('node', '--inspect', './lib/some-server.js'), 'some-server')
    assert.equal(await name('python3', '-m', 'my_server'), 'my_server')
    assert.equal(await name('npx', '-y', '@scope/some-server@1.2.3', '/data'), 'some-server')
    assert.ok(
      isPackageRunner(['npx', '-y', 'x']) && isPackageRunner(['/usr/bin/uvx', 'x']) && !isPackageRunner(['node', 'x']),
    )
  })

  it('sees the token by its name, and the entry only says where it is', async () => {
    const token = { value: 'sesame', reference: '${env:SOME_KEY}' }
    const { env: seen, entry } = await resolveProgram(['./run.js'], { ...parts, token })
    assert.equal(seen['SOME_KEY'], 'sesame')
    assert.deepEqual(entry, { command: ['./run.js'], env: { SOME_KEY: '${env:SOME_KEY}' } })
    assert.deepEqual((await read('./run.js')).entry, { command: ['./run.js'] })
  })

  it('is no address', () => {
    assert.ok(isCommand(['wc', '-w']) && isCommand(['npx', 'https://example.com']) && isCommand(['http']))
    assert.ok(!isCommand(['https://example.com']) && !isCommand(['ws://127.0.0.1:1']))
  })
})
