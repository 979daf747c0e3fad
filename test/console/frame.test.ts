/** The frame around every page: signing in, going from page to page, searching, light and dark; and nothing from elsewhere. */
import assert from 'node:assert/strict'
import { after, describe, it } from 'node:test'
import { adminKey } from '../admin/stage.ts'
import { findBrowser } from '../browser/chromium.ts'
import { openConsole, seriousViolations } from './open-console.ts'

const found = await findBrowser()

describe('the console', 'missing' in found ? { skip: found.missing } : { timeout: 120_000 }, async () => {
  if ('missing' in found) return
  after(() => found.browser.close())
  const house = await openConsole(found.browser)

  it('asks for the admin key, says when it is wrong, and opens with the right one', async () => {
    const stranger = await found.browser.newContext()
    const page = await stranger.newPage()
    await page.goto(`${house.stage.url}/tasks?state=TASK_STATE_FAILED`)
    await page.getByLabel('Admin key').fill('not the key of this hub')
    await page.getByRole('button', { name: 'Sign in' }).click()
    await page.getByText('This is not the admin key.').waitFor()
    assert.deepEqual(await seriousViolations(page), [])
    await page.getByLabel('Admin key').fill(adminKey)
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { name: 'Tasks', level: 1 }).waitFor()
    assert.match(page.url(), /\/tasks\?state=TASK_STATE_FAILED$/)
    const [cookie] = await stranger.cookies()
    assert.deepEqual([cookie?.httpOnly, cookie?.sameSite], [true, 'Strict'])
    await page.getByRole('button', { name: 'Sign out' }).click()
    await page.getByLabel('Admin key').waitFor()
    await stranger.close()
  })

  it('goes to every page by the rail, and shows that it is live', async () => {
    const page = await house.open('/agents')
    for (const name of ['Playground', 'Tasks', 'Traces', 'Push', 'Routes', 'Settings', 'Agents']) {
      await page.getByRole('navigation', { name: 'Pages' }).getByRole('link', { name }).click()
      await page.getByRole('heading', { name, level: 1 }).waitFor()
      assert.match(page.url(), new RegExp(`/${name.toLowerCase()}`))
    }
    await page.getByText(/ live$/).waitFor()
    await page.goBack()
    await page.getByRole('heading', { name: 'Settings', level: 1 }).waitFor()
    await page.close()
  })

  it('goes anywhere from the keyboard', async () => {
    const { id } = await house.stage.send('talker', 'find me again')
    const page = await house.open('/agents')
    await page.keyboard.press('Control+k')
    await page.keyboard.type('shout')
    await page.getByRole('option', { name: /shout/ }).first().waitFor()
    await page.keyboard.press('Enter')
    await page.waitForURL('**/agents/shout')
    await page.keyboard.press('Control+k')
    await page.keyboard.type(id.slice(0, 23))
    await page.getByRole('option', { name: /find me again/ }).waitFor()
    await page.keyboard.press('Enter')
    await page.waitForURL(`**/tasks/${id}`)
    await page.keyboard.press('?')
    await page.getByRole('dialog', { name: 'Keys' }).waitFor()
    await page.keyboard.press('Escape')
    await page.close()
  })

  it('asks nobody but the hub for anything, and keeps to its own policy', async () => {
    const asked: string[] = []
    const page = await house.open('/tasks')
    page.on('request', (request) => void asked.push(request.url()))
    await page.reload()
    await page.getByRole('heading', { level: 1 }).waitFor()
    assert.deepEqual(
      asked.filter((url) => !url.startsWith(house.stage.url)),
      [],
    )
    const policy = (await page.request.get('/', { headers: { accept: 'text/html' } })).headers()[
      'content-security-policy'
    ]
    assert.match(policy ?? '', /default-src 'none'; script-src 'self'; style-src 'self'/)
    assert.match(policy ?? '', /frame-ancestors 'none'/)
    await page.close()
  })

  it('leaves the addresses that it shares with the default agent to whoever asks for no page', async () => {
    const { id } = await house.stage.send('talker', 'hello')
    const asked = await fetch(`${house.stage.url}/tasks/${id}`, { headers: { 'a2a-version': '1.0' } })
    assert.equal(((await asked.json()) as any).id, id)
  })

  it('was not complained of', () => {
    assert.deepEqual(house.complaints, [])
  })
})
