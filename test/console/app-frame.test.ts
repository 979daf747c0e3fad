/** The frame around every page: sign-in, navigation, search, light and dark themes; no third-party requests. */
import assert from 'node:assert/strict'
import { it } from 'node:test'
import { adminKey, waitFor } from '../admin/test-hub.ts'
import { isFocused } from './page-queries.ts'
import { maxWaitMs, openConsole, seriousViolations } from './open-console.ts'
import { describeInBrowser } from './shared-browser.ts'

describeInBrowser('the console', async (browser) => {
  const fixture = await openConsole(browser)

  it('asks for the admin key, refuses a wrong one, and opens with the right one', async () => {
    const signedOut = await browser.newContext()
    signedOut.setDefaultTimeout(maxWaitMs)
    const page = await signedOut.newPage()
    await page.goto(`${fixture.testHub.url}/tasks?state=TASK_STATE_FAILED`)
    await page.getByLabel('Admin key').fill('not the key of this hub')
    await page.getByRole('button', { name: 'Sign in' }).click()
    await page.getByText('This is not the admin key.').waitFor()
    assert.deepEqual(await seriousViolations(page), [])
    await page.getByLabel('Admin key').fill(adminKey)
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { name: 'Tasks', level: 1 }).waitFor()
    assert.match(page.url(), /\/tasks\?state=TASK_STATE_FAILED$/)
    const [cookie] = await signedOut.cookies()
    assert.deepEqual([cookie?.httpOnly, cookie?.sameSite], [true, 'Strict'])
    await page.getByRole('button', { name: 'Sign out' }).click()
    await page.getByLabel('Admin key').waitFor()
    await signedOut.close()
  })

  it('shows a placeholder in the chosen theme while the script is on its way, then the page', async () => {
    const page = await fixture.context.newPage()
    await page.emulateMedia({ colorScheme: 'dark' })
    const scripts = Promise.withResolvers<void>()
    await page.route(/\/assets\/.*\.js$/, async (route) => {
      await scripts.promise
      await route.continue()
    })
    await page.goto('/agents', { waitUntil: 'commit' })
    await page.locator('#shell .skeleton-rows').waitFor()
    await page.getByText('Loading the console…').waitFor()
    assert.equal(await page.evaluate('document.documentElement.dataset.theme'), 'dark')
    assert.equal(await page.locator('#app > *').count(), 0)
    assert.deepEqual(await seriousViolations(page), [])
    scripts.resolve()
    await page.getByRole('heading', { name: 'Agents', level: 1 }).waitFor()
    assert.equal(await page.locator('#shell').count(), 0)
    await page.close()
  })

  it('needs few requests, and asks for nothing twice', async () => {
    const { id } = await fixture.testHub.send('talker', 'a cold start')
    for (const [path, shows] of [
      ['/tasks', 'a cold start'],
      ['/overview', 'Response time'],
      ['/', 'Response time'],
      [`/tasks/${id}`, 'a cold start'],
      ['/settings/health', 'Store'],
    ] as const) {
      // Without a cache.
      const cold = await browser.newContext({ storageState: await fixture.context.storageState() })
      cold.setDefaultTimeout(maxWaitMs)
      const page = await cold.newPage()
      const requests: string[] = []
      page.on('request', (request) => {
        const url = request.url().replace(fixture.testHub.url, '')
        if (url.startsWith('/')) requests.push(url)
      })
      // The feed never answers: what it reports may be loaded again.
      await page.route('/admin/events', () => {})
      await page.goto(fixture.testHub.url + path)
      await page.getByText(shows).first().waitFor()
      await page.locator('.rail-number').first().waitFor()
      await cold.close()
      assert.deepEqual(requests, [...new Set(requests)], path)
      if (path === '/tasks') assert.ok(requests.length <= 15, requests.join('\n'))
    }
  })

  it('opens every page from the rail, and shows that it is live', async () => {
    const page = await fixture.open('/agents')
    for (const name of ['Overview', 'Playground', 'Tasks', 'Traces', 'Webhooks', 'Settings', 'Agents']) {
      await page.getByRole('navigation', { name: 'Pages' }).getByRole('link', { name }).click()
      await page.getByRole('heading', { name, level: 1 }).waitFor()
      assert.match(page.url(), new RegExp(`/${name.toLowerCase()}`))
    }
    await page.getByText(/ Live$/).waitFor()
    await page.goBack()
    await page.getByRole('heading', { name: 'Settings', level: 1 }).waitFor()
    await page.close()
  })

  it('opens every page from the keyboard', async () => {
    const { id } = await fixture.testHub.send('talker', 'find me again')
    const page = await fixture.open('/agents')
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
    await page.getByRole('dialog', { name: 'Keyboard shortcuts' }).waitFor()
    await page.keyboard.press('Escape')
    await page.close()
  })

  it('lists recent pages, and reports when a search finds nothing [full]', async () => {
    const page = await fixture.open('/agents/shout')
    const search = page.getByRole('combobox', { name: 'Search' })
    const options = page.getByRole('dialog', { name: 'Search' }).getByRole('option')
    await page.keyboard.press('g')
    await page.keyboard.press('t')
    await page.getByRole('heading', { name: 'Tasks', level: 1 }).waitFor()
    await page.keyboard.press('Control+k')
    const recent = page.getByRole('group', { name: 'Recent' }).getByRole('option')
    await recent.first().waitFor()
    assert.equal(await search.getAttribute('aria-activedescendant'), await recent.first().getAttribute('id'))
    assert.deepEqual(await seriousViolations(page), [])
    // The selection wraps around and stays in view.
    await page.keyboard.press('ArrowUp')
    assert.equal(await options.last().getAttribute('aria-selected'), 'true')
    await page.keyboard.press('ArrowDown')
    assert.equal(await options.first().getAttribute('aria-selected'), 'true')
    await page.keyboard.type('no such thing at all')
    await options.getByText('Tasks that contain “no such thing at all”').waitFor()
    assert.equal(await options.count(), 1)
    await page.keyboard.press('Enter')
    await page.waitForURL('**/tasks?text=no+such+thing+at+all')
    await page.keyboard.press('Control+k')
    await page.keyboard.type('shout')
    await page.keyboard.press('Enter')
    await page.waitForURL('**/agents/shout')
    // Without waiting between keys.
    for (let n = 0; n < 10; n += 1) {
      for (const key of ['Control+k', 'Escape', 'Control+k', 'Control+k']) await page.keyboard.press(key)
      await search.waitFor({ state: 'detached' })
    }
    await page.close()
  })

  it('opens each page with two keys, and moves the focus there', async () => {
    const page = await fixture.open('/settings/about')
    for (const [key, name] of [
      ['o', 'Overview'],
      ['a', 'Agents'],
      ['p', 'Playground'],
      ['t', 'Tasks'],
      ['c', 'Traces'],
      ['u', 'Webhooks'],
      ['s', 'Settings'],
    ] as const) {
      await page.keyboard.press('g')
      await page.keyboard.press(key)
      await page.waitForURL(`**/${name.toLowerCase()}**`)
      await page.getByRole('heading', { name, level: 1 }).waitFor()
      const content = page.getByRole('main')
      await waitFor(async () => {
        const isInside = await content.evaluate((main: any) => main.contains(main.ownerDocument.activeElement))
        return isInside ? true : undefined
      }, `the focus is in ${name}`)
      assert.match(await page.title(), / · Parley$/)
      // If the page has focused a field, the next key goes to that field.
      await page.evaluate('document.activeElement.blur()')
    }
    await page.close()
  })

  it('ignores shortcuts in fields and dialogs', async () => {
    const page = await fixture.open('/settings/audit')
    await page.getByLabel('Text').focus()
    await page.keyboard.type('gt?')
    assert.match(page.url(), /\/settings\/audit/)
    assert.equal(await page.getByRole('dialog', { name: 'Keyboard shortcuts' }).count(), 0)
    await page.getByLabel('Text').blur()
    await page.keyboard.press('?')
    const keys = page.getByRole('dialog', { name: 'Keyboard shortcuts' })
    await keys.getByRole('heading', { name: 'On this page' }).waitFor()
    await keys.getByRole('heading', { name: 'Everywhere' }).waitFor()
    await keys.getByRole('heading', { name: 'Go to' }).waitFor()
    await keys.getByText('Next entry').waitFor()
    assert.deepEqual(await seriousViolations(page), [])
    await page.keyboard.press('g')
    await page.keyboard.press('t')
    await page.keyboard.press('Escape')
    await keys.waitFor({ state: 'detached' }).catch(() => keys.waitFor({ state: 'hidden' }))
    assert.match(page.url(), /\/settings\/audit/)
    await page.close()
  })

  it('lets the keyboard skip the rail', async () => {
    const page = await fixture.open('/settings/about')
    await page.keyboard.press('Tab')
    assert.equal(await isFocused(page.getByRole('link', { name: 'Skip to content' })), true)
    await page.keyboard.press('Enter')
    assert.equal(await isFocused(page.getByRole('main')), true)
    await page.getByRole('heading', { name: 'Settings', level: 1 }).waitFor()
    await page.close()
  })

  for (const theme of ['light', 'dark'] as const) {
    it(`has the pages at the bottom of a phone, the less used ones behind "More", ${theme} [full]`, async () => {
      const page = await fixture.open('/tasks', { width: 390, height: 844, theme })
      const rail = page.getByRole('navigation', { name: 'Pages' })
      const box = await rail.boundingBox()
      assert.ok((box?.y ?? 0) > 740, JSON.stringify(box))
      assert.equal(await rail.getByRole('link', { name: 'Settings' }).isVisible(), false)
      const more = rail.getByRole('button', { name: 'More' })
      await more.click()
      assert.equal(await more.getAttribute('aria-expanded'), 'true')
      assert.deepEqual(await seriousViolations(page), [])
      await page.keyboard.press('Escape')
      assert.equal(await rail.getByRole('link', { name: 'Settings' }).isVisible(), false)
      await more.click()
      await rail.getByRole('link', { name: 'Settings' }).click()
      await page.getByRole('heading', { name: 'Settings', level: 1 }).waitFor()
      assert.equal(await rail.getByRole('link', { name: 'Webhooks' }).isVisible(), false)
      for (const target of await rail.getByRole('link').or(more).all()) {
        if (!(await target.isVisible())) continue
        const { width = 0, height = 0 } = (await target.boundingBox()) ?? {}
        assert.ok(width >= 30 && height >= 30, `${width} × ${height}`)
      }
      assert.equal(await page.evaluate('document.documentElement.scrollWidth <= innerWidth'), true)
      await page.close()
    })
  }

  it('has one title bar on a phone that shows a detail', async () => {
    const page = await fixture.open('/agents/shout', { width: 390, height: 844 })
    const head = page.locator('.detail-head')
    await head.waitFor()
    assert.ok(((await head.boundingBox())?.y ?? Infinity) < 60)
    assert.equal(await page.getByRole('heading', { name: 'Agents', level: 1 }).count(), 1)
    await page.close()
  })

  it('marks the pages with a problem as soon as it occurs', async () => {
    const page = await fixture.open('/settings/about')
    const agents = page.getByRole('navigation', { name: 'Pages' }).getByRole('link', { name: /^Agents/ })
    await agents.getByText('6').waitFor()
    await fixture.testHub.ask('POST', '/admin/agents', {
      name: 'gone',
      entry: { kind: 'a2a', url: 'http://127.0.0.1:9' },
    })
    await agents.getByRole('img', { name: '1 with issues' }).waitFor()
    await fixture.testHub.ask('DELETE', '/admin/agents/gone')
    await agents.getByRole('img').waitFor({ state: 'detached' })
    await page.close()
  })

  it('says that the hub cannot be reached when a page cannot be loaded, loads it then, and offers a reload after an update', async () => {
    const page = await fixture.context.newPage()
    await page.goto(`${fixture.testHub.url}/settings/about`)
    await page.getByRole('heading', { name: 'Settings', level: 1 }).waitFor()
    const webhooks = page.getByRole('navigation', { name: 'Pages' }).getByRole('link', { name: 'Webhooks' })
    await page.route(/assets\/(webhooks|traces)-page-.*\.js|\/admin\/session$/, (route) =>
      route.abort('connectionrefused'),
    )
    await webhooks.click()
    await page.getByRole('alert').getByText('The hub cannot be reached', { exact: true }).waitFor()
    assert.equal(await page.getByText(/dynamically imported|\.js/).count(), 0)
    await page.unrouteAll()
    await page.getByRole('heading', { name: 'Webhooks', level: 1 }).waitFor()
    await page.route(/assets\/traces-page-.*\.js/, (route) => route.fulfill({ status: 404 }))
    await page.getByRole('navigation', { name: 'Pages' }).getByRole('link', { name: 'Traces' }).click()
    await page.getByRole('alert').getByText('This page could not be loaded').waitFor()
    await page.unrouteAll()
    await page.getByRole('button', { name: 'Reload' }).click()
    await page.getByRole('heading', { name: 'Traces', level: 1 }).waitFor()
    await page.close()
  })

  it('shows a not-found message for unknown pages', async () => {
    const page = await fixture.context.newPage()
    const answer = await page.goto(`${fixture.testHub.url}/no/such page`)
    assert.equal(answer?.status(), 404)
    await page.getByRole('heading', { name: 'Page not found', level: 1 }).waitFor()
    await page.getByText('Nothing is at /no/such%20page').waitFor()
    await page.getByRole('link', { name: 'Open overview' }).click()
    await page.waitForURL('**/overview')
    await page.evaluate(`history.pushState(null, '', '/elsewhere'); dispatchEvent(new PopStateEvent('popstate'))`)
    await page.getByRole('heading', { name: 'Page not found', level: 1 }).waitFor()
    // Programs get JSON, whatever they accept.
    const asProgram = await fetch(`${fixture.testHub.url}/a2a/no-such-agent`, { headers: { accept: 'text/html' } })
    assert.ok(asProgram.status >= 400, String(asProgram.status))
    assert.match(asProgram.headers.get('content-type') ?? '', /^application\/json/)
    const wellKnown = await fetch(`${fixture.testHub.url}/.well-known/agent-card.json`, {
      headers: { accept: 'text/html' },
    })
    assert.equal(wellKnown.status, 200)
    await page.close()
  })

  it('sends requests to the hub only, and keeps its content security policy', async () => {
    const asked: string[] = []
    const page = await fixture.open('/tasks')
    page.on('request', (request) => void asked.push(request.url()))
    await page.reload()
    await page.getByRole('heading', { level: 1 }).waitFor()
    assert.deepEqual(
      asked.filter((url) => !url.startsWith(fixture.testHub.url)),
      [],
    )
    const policy = (await page.request.get('/', { headers: { accept: 'text/html' } })).headers()[
      'content-security-policy'
    ]
    assert.match(policy ?? '', /default-src 'none'; script-src 'self'; style-src 'self'/)
    assert.match(policy ?? '', /frame-ancestors 'none'/)
    await page.close()
  })

  it('leaves paths that it shares with the default agent to clients that do not accept HTML', async () => {
    const { id } = await fixture.testHub.send('talker', 'hello')
    const asked = await fetch(`${fixture.testHub.url}/tasks/${id}`, { headers: { 'a2a-version': '1.0' } })
    assert.equal(((await asked.json()) as any).id, id)
  })

  it('causes no page errors', () => {
    assert.deepEqual(fixture.pageErrors, [])
  })
})
