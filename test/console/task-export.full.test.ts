/** A task as a test: the exported test passes against its hub, and fails when the agent changes. */
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { copyFile, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, it } from 'node:test'
import { openConsole } from './open-console.ts'
import { describeInBrowser } from './shared-browser.ts'

const root = join(import.meta.dirname, '../..')

describeInBrowser('a task exported as a test', async (browser) => {
  const fixture = await openConsole(browser)
  const { testHub } = fixture
  const folder = await mkdtemp(join(tmpdir(), 'parley-test-'))
  after(() => rm(folder, { recursive: true, force: true }))
  await symlink(join(root, 'node_modules'), join(folder, 'node_modules'))

  /** The downloaded file. */
  async function exported(id: string): Promise<string> {
    const page = await fixture.open(`/tasks/${id}`)
    await page.locator('.task-head').getByRole('button', { name: 'Export' }).click()
    const [file] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('button', { name: 'As a test for node:test' }).click(),
    ])
    const to = join(folder, file.suggestedFilename())
    await copyFile(await file.path(), to)
    await page.close()
    return to
  }

  /** Whether it passes, and its output. */
  function run(file: string): Promise<{ passes: boolean; said: string }> {
    const { NODE_TEST_CONTEXT: _, ...env } = process.env
    return new Promise((resolve) => {
      execFile(
        process.execPath,
        ['--conditions=parley-source', '--test', file],
        { cwd: folder, env, timeout: 120_000 },
        (error, stdout, stderr) => resolve({ passes: error === null, said: stdout + stderr }),
      )
    })
  }

  it('passes against the agent of the task', async () => {
    const { id } = await testHub.send('talker', 'Hello "world"\n${process.exit(1)} */')
    const file = await exported(id)
    assert.match(file, /talker-[0-9a-f]{8}\.test\.mjs$/)
    const { passes, said } = await run(file)
    assert.ok(passes, said)
    assert.match(said, /pass 1/)
  })

  it('answers the questions of the agent', async () => {
    const { id, contextId } = await testHub.send('talker', 'ask which city')
    await testHub.send('talker', 'Rome', {}, { taskId: id, contextId })
    const { passes, said } = await run(await exported(id))
    assert.ok(passes, said)
  })

  it('also covers failed and canceled tasks', async () => {
    const failed = await testHub.send('talker', 'fail now')
    const first = await run(await exported(failed.id))
    assert.ok(first.passes, first.said)
    const started = await testHub.call('talker', 'SendMessage', {
      message: { messageId: crypto.randomUUID(), role: 'ROLE_USER', parts: [{ text: 'wait' }] },
      configuration: { returnImmediately: true },
    })
    const { id } = started.json.result.task
    await testHub.ask('POST', `/admin/tasks/${id}/cancel`)
    const second = await run(await exported(id))
    assert.ok(second.passes, second.said)
  })

  it('fails when the agent answers differently', async () => {
    const { id } = await testHub.send('shout', 'a whisper')
    const file = await exported(id)
    const before = await run(file)
    assert.ok(before.passes, before.said)
    await writeFile(join(testHub.folder, 'shout.mjs'), `process.stdout.write('something else')`)
    const { passes, said } = await run(file)
    assert.equal(passes, false)
    assert.match(said, /something else/)
  })

  it('is offered only for a task with an answer', async () => {
    const started = await testHub.call('talker', 'SendMessage', {
      message: { messageId: crypto.randomUUID(), role: 'ROLE_USER', parts: [{ text: 'wait' }] },
      configuration: { returnImmediately: true },
    })
    const page = await fixture.open(`/tasks/${started.json.result.task.id}`)
    await page.locator('.task-head').getByRole('button', { name: 'Export' }).click()
    assert.equal(await page.getByRole('button', { name: 'As a test for node:test' }).isDisabled(), true)
    await page.close()
    await testHub.ask('POST', `/admin/tasks/${started.json.result.task.id}/cancel`)
  })

  it('causes no page errors', () => {
    assert.deepEqual(fixture.pageErrors, [])
  })
})
