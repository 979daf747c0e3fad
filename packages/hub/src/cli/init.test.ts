import assert from 'node:assert/strict'
import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, it, type TestContext } from 'node:test'
import { runCli } from './run.ts'
import { createTestTerminal } from './testing/test-terminal.ts'

async function newFolder(t: TestContext): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'parley-init-'))
  t.after(() => rm(folder, { recursive: true }))
  return folder
}

describe('parley init', () => {
  it('writes a project whose configuration is valid, and prints the next commands', async (t) => {
    const cwd = await newFolder(t)
    const terminal = createTestTerminal({ cwd })
    assert.equal(await runCli(['init', 'my-agent'], terminal), 0)
    assert.ok(terminal.printed.includes('  cd my-agent'), terminal.printed.join('\n'))
    const check = createTestTerminal({ cwd: join(cwd, 'my-agent') })
    assert.equal(await runCli(['config', 'check'], check), 0, check.errors.join('\n'))
    assert.match(check.printed.join('\n'), /is valid: greeter\.$/)
  })

  it('refuses a folder that has one of its files, names the file and writes nothing', async (t) => {
    const cwd = await newFolder(t)
    await writeFile(join(cwd, 'parley.yaml'), 'agents: {}')
    const terminal = createTestTerminal({ cwd })
    assert.notEqual(await runCli(['init'], terminal), 0)
    assert.match(terminal.errors.join('\n'), /already has parley\.yaml\./)
    assert.deepEqual(await readdir(cwd), ['parley.yaml'])
  })

  it('prints the project as JSON with -o json', async (t) => {
    const cwd = await newFolder(t)
    const terminal = createTestTerminal({ cwd })
    assert.equal(await runCli(['init', 'my-agent', '-o', 'json'], terminal), 0)
    const { folder, files } = JSON.parse(terminal.printed.join('\n')) as { folder: string; files: readonly string[] }
    assert.equal(folder, join(cwd, 'my-agent'))
    assert.deepEqual((await readdir(folder)).toSorted(), files)
  })

  it('writes a project with an agent of a framework, and refuses a framework that it does not know', async (t) => {
    const cwd = await newFolder(t)
    const terminal = createTestTerminal({ cwd })
    assert.equal(await runCli(['init', 'my-agent', '--framework', 'ai-sdk'], terminal), 0, terminal.errors.join('\n'))
    const check = createTestTerminal({ cwd: join(cwd, 'my-agent') })
    assert.equal(await runCli(['config', 'check'], check), 0, check.errors.join('\n'))
    assert.match(check.printed.join('\n'), /is valid: assistant\.$/)
    assert.notEqual(await runCli(['init', 'other', '--framework', 'autogen'], terminal), 0)
    assert.match(terminal.errors.join('\n'), /autogen.*ai-sdk, langgraph, mastra, openai-agents, claude/)
    assert.deepEqual(await readdir(cwd), ['my-agent'])
  })

  it('refuses two folders', async (t) => {
    const terminal = createTestTerminal({ cwd: await newFolder(t) })
    assert.notEqual(await runCli(['init', 'one', 'two'], terminal), 0)
    assert.deepEqual(terminal.errors, ['`parley init` does not take "two". Usage: parley init [folder] [options]'])
  })
})
