/** The last message as a curl command, run as copied in a real shell. */
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { it } from 'node:test'
import { promisify } from 'node:util'
import type { Page } from 'playwright-core'
import { waitFor } from '../admin/test-hub.ts'
import { openConsole } from './open-console.ts'
import { readClipboard, sendText, waitForTaskEnd } from './playground-fixture.ts'
import { describeInBrowser } from './shared-browser.ts'

const run = promisify(execFile)

describeInBrowser('a message as curl', async (browser) => {
  const anonymousFixture = await openConsole(browser)
  const keyedFixture = await openConsole(browser, { config: { access: { anonymous: [] } } })
  for (const { context } of [anonymousFixture, keyedFixture]) {
    await context.grantPermissions(['clipboard-read', 'clipboard-write'])
  }

  /** The copied command of the last request, and its output in a shell. */
  async function runCopied(page: Page, text: string, environment: Record<string, string> = {}) {
    await page.getByRole('button', { name: 'Copy curl' }).click()
    const command = await waitFor(async () => {
      const held = await readClipboard(page)
      return held.includes(text) ? held : undefined
    }, 'the command is copied')
    const { PARLEY_KEY: _, ...own } = process.env
    const { stdout } = await run('sh', ['-c', command], { env: { ...own, ...environment } })
    return { command, stdout }
  }

  for (const way of ['', '?stream=0', '?binding=HTTP%2BJSON', '?version=0.3'])
    it(`works as copied on a hub without keys${way === '' ? '' : `: ${way.slice(1)}`}`, async () => {
      const page = await anonymousFixture.open(`/playground/talker${way}`)
      for (const text of ['the first', 'the second']) {
        await sendText(page, text)
        await page
          .locator('.talk-end')
          .nth(text === 'the first' ? 0 : 1)
          .waitFor()
        const { command, stdout } = await runCopied(page, text)
        assert.doesNotMatch(command, /authorization/i)
        assert.match(stdout, new RegExp(`You said: [\\s\\S]*${text}`))
        assert.doesNotMatch(stdout, /"error"/)
      }
      await page.close()
    })

  it('names a key on a hub that requires one, and works with it', async () => {
    const page = await keyedFixture.open('/playground/talker')
    await sendText(page, 'with a key')
    await waitForTaskEnd(page)
    const { authorization = '' } = await keyedFixture.testHub.key({ agents: ['talker'] })
    const { command, stdout } = await runCopied(page, 'with a key', {
      PARLEY_KEY: authorization.replace('Bearer ', ''),
    })
    assert.match(command, /-H "Authorization: Bearer \$PARLEY_KEY"/)
    assert.match(stdout, /You said: [\s\S]*with a key/)
    await page.close()
  })

  it('causes no page errors', () => {
    assert.deepEqual([...anonymousFixture.pageErrors, ...keyedFixture.pageErrors], [])
  })
})
