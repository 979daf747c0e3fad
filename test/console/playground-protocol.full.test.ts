/** Every version over every binding, and its protocol log. */
import assert from 'node:assert/strict'
import { it } from 'node:test'
import type { Page } from 'playwright-core'
import { composer, waitForClipboard, openPlayground, sendText, waitForTaskEnd } from './playground-fixture.ts'
import { describeInBrowser } from './shared-browser.ts'

const lines = async (page: Page): Promise<string> =>
  (await page.locator('.protocol-open').allInnerTexts()).join('\n').replaceAll('\n→', '→')

/** The method or path of each version and binding, for a send and for a stream. */
const ways = [
  {
    version: '1.0',
    binding: 'JSONRPC',
    path: '/a2a/concierge',
    send: 'SendMessage',
    stream: 'SendStreamingMessage',
    word: 'statusUpdate',
  },
  {
    version: '1.0',
    binding: 'HTTP+JSON',
    path: '/a2a/concierge/message:',
    send: 'send',
    stream: 'stream',
    word: 'statusUpdate',
  },
  {
    version: '0.3',
    binding: 'JSONRPC',
    path: '/a2a/concierge/',
    send: 'message/send',
    stream: 'message/stream',
    word: 'status-update',
  },
  {
    version: '0.3',
    binding: 'HTTP+JSON',
    path: '/a2a/concierge/v1/message:',
    send: 'send',
    stream: 'stream',
    word: 'statusUpdate',
  },
  {
    version: '0.2',
    binding: 'JSONRPC',
    path: '/a2a/concierge/',
    send: 'message/send',
    stream: 'message/stream',
    word: 'status-update',
  },
] as const

describeInBrowser('the protocol log', async (browser) => {
  const fixture = await openPlayground(browser)

  for (const { version, binding, path, send, stream, word } of ways) {
    for (const isStreamed of [true, false]) {
      it(`carries a conversation in ${version} over ${binding}, ${isStreamed ? 'streamed' : 'not streamed'}`, async () => {
        const query = new URLSearchParams({ version, binding, protocol: '1', ...(isStreamed ? {} : { stream: '0' }) })
        const page = await fixture.open(`/playground/concierge?${query.toString()}`)
        await sendText(page, 'A table, please')
        await page.locator('.talk-asked').waitFor()
        await sendText(page, 'Rome, two')
        await waitForTaskEnd(page)
        assert.match(await page.locator('.talk').innerText(), /PARLEY-42[\s\S]*booking\.txt/)
        assert.equal(await page.locator('.chat-task').count(), 1)
        const requests = await page.locator('.protocol-row.request').allInnerTexts()
        const sent = requests.filter((text) => text.includes('POST'))
        assert.equal(sent.length, 2)
        for (const text of sent) {
          assert.ok(text.includes(`POST ${path}`), text)
          assert.ok(text.includes(`· ${isStreamed ? stream : send}`), text)
        }
        if (isStreamed) assert.match(await lines(page), new RegExp(`#\\d+ ${word}`))
        await page.locator('.protocol-row.request', { hasText: 'POST' }).first().locator('.protocol-open').click()
        const head = await page.locator('.protocol-headers').innerText()
        assert.match(head, new RegExp(`a2a-version\\s*${version.replace('.', '\\.')}`))
        assert.match(head, /x-csrf-token\s*\(not shown\)/)
        await page.close()
      })
    }
  }

  it('is selected on the page, kept in the address, and survives a reload', async () => {
    const page = await fixture.open('/playground/talker')
    await page.getByLabel('Version').selectOption('0.3')
    await page.getByLabel('Binding').selectOption('HTTP+JSON')
    await page.getByLabel('Stream').uncheck()
    await page.waitForURL((url) => url.search === '?version=0.3&binding=HTTP%2BJSON&stream=0')
    await page.reload()
    await composer(page).waitFor()
    assert.equal(await page.getByLabel('Version').inputValue(), '0.3')
    assert.equal(await page.getByLabel('Stream').isChecked(), false)
    await page.close()
  })

  it('shows each frame with its time, as a tree or raw, searchable, and copied', async () => {
    const page = await fixture.open('/playground/talker?protocol=1')
    await page.getByText('Send a message to see each request').waitFor()
    await sendText(page, 'seen on the protocol')
    await waitForTaskEnd(page)
    await page.getByLabel('Filter frames').fill('artifactUpdate')
    await page.waitForURL('**&frames=artifactUpdate')
    const rows = page.locator('.protocol-row')
    await rows.nth(2).waitFor({ state: 'detached' })
    assert.equal(await rows.count(), 2)
    assert.match(await rows.first().innerText(), /#\d+ artifactUpdate · “You said: ”\s*\d+(\.\d)? m?s/)
    await rows.first().locator('.protocol-open').click()
    await rows.first().getByText('"You said: "').waitFor()
    await rows
      .first()
      .getByText(/^As sent/)
      .click()
    assert.match(await rows.first().locator('pre').innerText(), /^id: \d+\ndata: \{"jsonrpc"/)
    await rows.first().getByRole('button', { name: 'Copy this frame' }).click()
    await waitForClipboard(page, 'id: ')
    await page.getByLabel('Filter frames').fill('nothing like that')
    await page.getByText('No matching frames').waitFor()
    await page.getByLabel('Filter frames').fill('')
    await page.getByRole('button', { name: 'Clear' }).click()
    await page.getByText('Send a message to see each request').waitFor()
    await page.getByRole('button', { name: 'Close protocol' }).click()
    assert.equal(await page.locator('.protocol').count(), 0)
    await page.close()
  })

  it('shows refused requests', async () => {
    const page = await fixture.open('/playground/talker?protocol=1')
    await page.route('**/a2a/talker', (route) =>
      route.fulfill({
        status: 200,
        contentType: 'application/json',
        body: '{"jsonrpc":"2.0","id":1,"error":{"code":-32603,"message":"not today"}}',
      }),
    )
    await sendText(page, 'refuse me')
    await page.getByRole('alert').getByText('not today').first().waitFor()
    await page.getByText('not sent').waitFor()
    assert.match(await lines(page), /error -32603 not today/)
    await page.unroute('**/a2a/talker')
    await page.getByRole('button', { name: 'Try again' }).click()
    await waitForTaskEnd(page)
    assert.equal(await page.locator('.talk-said.mine').count(), 1)
    await page.close()
  })

  it('over gRPC has a command for a shell', async () => {
    const page = await fixture.open('/playground/talker')
    await page.getByLabel('Binding').selectOption('GRPC')
    await page.getByText('The card of this agent does not list gRPC.').waitFor()
    assert.equal(await composer(page).count(), 0)
    await page.close()
  })

  it('causes no page errors', () => {
    assert.deepEqual(fixture.pageErrors, [])
  })
})
