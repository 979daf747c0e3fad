/** Output of agents, shown by its type; and input besides text: files and data. */
import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { it } from 'node:test'
import { newFolder } from '../hub/running-hub.ts'
import { seriousViolations } from './open-console.ts'
import { composer, waitForClipboard, openPlayground, sendText, taskIdOf, waitForTaskEnd } from './playground-fixture.ts'
import { describeInBrowser } from './shared-browser.ts'

describeInBrowser('the output of agents by type', async (browser) => {
  const fixture = await openPlayground(browser)

  it('is shown by its type, with the progress messages', async () => {
    const page = await fixture.open('/playground/studio')
    await sendText(page, 'everything')
    await waitForTaskEnd(page)
    const made = (name: string) => page.getByRole('article', { name, exact: true })
    await page.locator('.talk-status', { hasText: 'Mixing the colours' }).waitFor()
    const child = page.locator('.talk-status', { hasText: 'The helper draws' }).getByRole('link')
    assert.equal(await child.getAttribute('href'), '/tasks/0190a1b2-c3d4-7e5f-8a9b-0c1d2e3f4a5b')
    assert.match(await child.innerText(), /helper/)

    await made('report.md').getByRole('heading', { name: 'A report' }).waitFor()
    assert.equal(await made('report.md').locator('table td').first().innerText(), '1')
    assert.equal(await made('plain').locator('.part-text').innerText(), 'just *text*')
    assert.equal(await made('main.py').locator('pre').innerText(), 'print("hello")\n')
    await made('settings').getByText('theme').waitFor()
    assert.equal(await made('cities').locator('tbody tr').count(), 100)
    await made('cities').getByRole('button', { name: 'Show more' }).click()
    assert.equal(await made('cities').locator('tbody tr').count(), 250)
    await made('cities').getByRole('button', { name: 'JSON', exact: true }).click()
    assert.equal(await made('cities').locator('table').count(), 0)
    assert.deepEqual(await made('prices').locator('td').allInnerTexts(), ['bread, white', '2.50', 'wine', '12.00'])
    assert.deepEqual(await made('prices').locator('th.number').allInnerTexts(), ['price'])
    await made('prices').getByRole('button', { name: 'Text', exact: true }).click()
    assert.match(await made('prices').locator('pre').innerText(), /^what,price\n"bread, white",2\.50\n/)
    assert.deepEqual(await made('stock').locator('td').allInnerTexts(), ['bread', '3'])

    const picture = made('dot').getByRole('img', { name: 'dot.png' })
    await picture.scrollIntoViewIfNeeded()
    assert.equal(await picture.evaluate((image: any) => image.naturalWidth), 1)
    const sound = made('sound').locator('audio')
    await sound.scrollIntoViewIfNeeded()
    await page.waitForFunction("document.querySelector('audio')?.duration > 0.09")
    await made('film').getByText('This browser cannot show the file.').waitFor()
    const link = made('elsewhere').getByRole('link', { name: 'report.pdf' })
    assert.deepEqual(
      [await link.getAttribute('href'), await link.getAttribute('target'), await link.getAttribute('rel')],
      ['https://example.com/report.pdf', '_blank', 'noopener noreferrer'],
    )
    assert.deepEqual(await seriousViolations(page), [])
    await page.close()
  })

  it('is JSON with previews of what is collapsed, and lists of objects as tables', async () => {
    const page = await fixture.open('/playground/studio')
    await sendText(page, 'json')
    await waitForTaskEnd(page)
    const orders = page.getByRole('article', { name: 'orders', exact: true })
    await orders.getByText('{id: 10, who: "Ann", lines: […]}').waitFor()
    await orders.getByRole('button', { name: 'Table', exact: true }).click()
    const cells = orders.locator('td')
    assert.deepEqual(await cells.allInnerTexts(), ['10', 'Ann', '[{…}]', '9', 'Bob', '[]'])
    await orders.getByRole('button', { name: 'id', exact: true }).click()
    assert.equal(await cells.first().innerText(), '9')
    assert.equal(await orders.locator('th').first().getAttribute('aria-sort'), 'ascending')
    assert.deepEqual(await seriousViolations(page), [])
    await orders.getByRole('button', { name: 'Tree', exact: true }).click()
    await orders.getByRole('button', { name: 'orders', exact: true }).click()
    await orders.getByText('[{…}, {…}]').waitFor()
    await page.close()
  })

  it('shows a PDF in the viewer of the browser, if there is one', async () => {
    const page = await fixture.open('/playground/studio')
    await sendText(page, 'pdf')
    await waitForTaskEnd(page)
    const paper = page.getByRole('article', { name: 'paper', exact: true })
    // The browser of the tests has no viewer.
    await paper.getByText('This browser cannot show the file.').waitFor()
    await paper.getByRole('button', { name: 'Download paper.pdf' }).waitFor()
    await page.evaluate("Object.defineProperty(navigator, 'pdfViewerEnabled', { get: () => true })")
    await sendText(page, 'pdf again')
    await waitForTaskEnd(page)
    const frame = page.getByTitle('Preview of paper.pdf').last()
    await frame.scrollIntoViewIfNeeded()
    assert.match((await frame.getAttribute('src')) ?? '', /^blob:/)
    await page.close()
  })

  it('can be viewed, copied and saved', async () => {
    const page = await fixture.open('/playground/studio')
    await sendText(page, 'files')
    await waitForTaskEnd(page)
    const notes = page.getByRole('article', { name: 'notes', exact: true })
    await notes.scrollIntoViewIfNeeded()
    assert.match(await notes.innerText(), /notes\.txt\s*12 B · text\/plain/)
    assert.equal(await notes.locator('pre').innerText(), 'Where: Rome\n')
    await notes.getByRole('button', { name: 'Hide preview' }).click()
    assert.equal(await notes.locator('pre').count(), 0)
    await notes.getByRole('button', { name: 'Preview', exact: true }).click()
    await notes.locator('pre').waitFor()
    const kept = page.waitForEvent('download')
    await notes.getByRole('button', { name: 'Download notes.txt' }).click()
    const file = await kept
    assert.equal(file.suggestedFilename(), 'notes.txt')
    assert.equal(await readFile(await file.path(), 'utf8'), 'Where: Rome\n')
    const zip = page.waitForEvent('download')
    await page.getByRole('button', { name: 'Download all.zip' }).click()
    assert.deepEqual([...(await readFile(await (await zip).path()))], [80, 75, 3, 4])
    await page.getByRole('article', { name: 'report.md' }).getByRole('button', { name: 'Copy text' }).click()
    assert.match(await waitForClipboard(page, '# A report'), /\*\*two\*\*/)
    await page.close()
  })

  it('links output to its event', async () => {
    const { id } = await fixture.testHub.send('concierge', 'A table')
    await fixture.testHub.send('concierge', 'Rome', {}, { taskId: id })
    const page = await fixture.open(`/tasks/${id}`)
    await page.locator('.talk-asked').waitFor()
    await page.locator('.talk-status', { hasText: 'Looking for a table' }).getByRole('button').click()
    await page.locator('.talk-status[aria-current]').waitFor()
    const { json } = await fixture.testHub.ask('GET', `/admin/tasks/${id}/events`)
    const seq = json.events.find(({ body }: any) => body.status?.message?.parts[0].text.startsWith('Looking')).seq
    assert.ok([...new URL(page.url()).searchParams.values()].includes(String(seq)))
    // The task at that time, without later output.
    assert.equal(await page.locator('.talk-made').count(), 0)
    await page.close()
  })

  it('looks the same on the page of the task', async () => {
    const page = await fixture.open('/playground/studio')
    await sendText(page, 'look the same')
    await waitForTaskEnd(page)
    const shown = async () => {
      // The browser tries to play the film before it gives up.
      const film = page.getByRole('article', { name: 'film', exact: true })
      await film.getByText('This browser cannot show the file.').waitFor()
      return page.locator('.talk').innerText()
    }
    const before = await shown()
    await page.goto(`${fixture.testHub.url}/tasks/${taskIdOf(page)}`)
    await waitForTaskEnd(page)
    const plain = (text: string) => text.replaceAll(/\d\d:\d\d:\d\d|in [\d.]+ m?s/g, '').replaceAll(/\s+/g, ' ')
    assert.equal(plain(await shown()), plain(before))
    await page.close()
  })
})

describeInBrowser('the input of a message', async (browser) => {
  const fixture = await openPlayground(browser)
  const sent = async (id: string) => (await fixture.testHub.ask('GET', `/admin/tasks/${id}`)).json.task.history[0].parts
  const file = (name: string, text: string, mimeType = 'text/plain') => ({ name, mimeType, buffer: Buffer.from(text) })
  const chips = '.chip'

  it('may be files from the picker, several, with previews and removal', async () => {
    const page = await fixture.open('/playground/echo')
    const png = Buffer.from(
      'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
      'base64',
    )
    await page
      .locator('input[type=file]')
      .setInputFiles([
        file('a.txt', 'hello'),
        file('b.txt', 'mistake'),
        { name: 'dot.png', mimeType: 'image/png', buffer: png },
      ])
    assert.equal(await page.locator(chips).count(), 3)
    assert.equal(await page.locator('.chip img').count(), 1)
    await page.getByRole('button', { name: 'Remove b.txt' }).click()
    await sendText(page, 'two files')
    await waitForTaskEnd(page)
    assert.equal(await page.locator(chips).count(), 0)
    const parts = await sent(taskIdOf(page))
    assert.deepEqual(parts.slice(0, 2), [
      { text: 'two files' },
      { raw: 'aGVsbG8=', filename: 'a.txt', mediaType: 'text/plain' },
    ])
    assert.deepEqual([parts[2].filename, parts[2].raw], ['dot.png', png.toString('base64')])
    assert.equal(await page.locator('.talk-said.mine').getByRole('img', { name: 'dot.png' }).count(), 1)
    await page.close()
  })

  it('may be dropped or pasted files, without text', async () => {
    const page = await fixture.open('/playground/echo')
    const give = (type: 'drop' | 'paste', name: string) =>
      composer(page).evaluate(
        (field: any, { type, name }) => {
          const { DataTransfer, File, DragEvent, ClipboardEvent } = globalThis as any
          const data = new DataTransfer()
          data.items.add(new File(['given'], name, { type: 'text/plain' }))
          const init = { bubbles: true, cancelable: true }
          field.dispatchEvent(
            type === 'drop'
              ? new DragEvent('drop', { ...init, dataTransfer: data })
              : new ClipboardEvent('paste', { ...init, clipboardData: data }),
          )
        },
        { type, name },
      )
    await give('drop', 'dropped.txt')
    await give('paste', 'pasted.txt')
    assert.deepEqual(await page.locator('.chip-name').allInnerTexts(), ['dropped.txt', 'pasted.txt'])
    await page.getByRole('button', { name: 'Send' }).click()
    await waitForTaskEnd(page)
    const parts = await sent(taskIdOf(page))
    assert.deepEqual(
      parts.map((part: { filename: string }) => part.filename),
      ['dropped.txt', 'pasted.txt'],
    )
    await page.close()
  })

  it('is rejected before it is sent if the hub would reject it', async () => {
    const page = await fixture.open('/playground/echo')
    const folder = await newFolder({ 'huge.bin': 'x'.repeat(14_000_001), 'small.txt': 'x' })
    await page.locator('input[type=file]').setInputFiles([join(folder, 'huge.bin'), join(folder, 'small.txt')])
    await page.getByText(/huge\.bin .*: the files of a message can have at most 14\.0 MB\./).waitFor()
    assert.deepEqual(await page.locator('.chip-name').allInnerTexts(), ['small.txt'])
    await page.close()
  })

  it('may be data, which is checked while the user types', async () => {
    const page = await fixture.open('/playground/echo')
    await page.getByRole('button', { name: 'Data' }).click()
    const editor = page.getByLabel('Data, as JSON')
    await editor.fill('{ "city": ')
    await page.locator('.composer .mistake').waitFor()
    assert.equal(await editor.getAttribute('aria-invalid'), 'true')
    assert.equal(await page.getByRole('button', { name: 'Send' }).isDisabled(), true)
    await editor.fill('{"city":"Rome","list":[1,2]}')
    await page.getByText('Valid JSON').waitFor()
    await page.getByRole('button', { name: 'Format' }).click()
    assert.match(await editor.inputValue(), /^\{\n {2}"city": "Rome"/)
    await editor.press('Control+Enter')
    await waitForTaskEnd(page)
    assert.deepEqual(await sent(taskIdOf(page)), [{ data: { city: 'Rome', list: [1, 2] } }])
    assert.equal(await page.getByLabel('Data, as JSON').count(), 0)
    await page.close()
  })

  it('causes no page errors', () => {
    assert.deepEqual(fixture.pageErrors, [])
  })
})
