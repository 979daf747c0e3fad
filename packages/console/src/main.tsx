/** Entry point of the console: one page, one session, one change feed. */
import { effect } from '@preact/signals'
import { render } from 'preact'
import './styles/tokens.css'
import './styles/base.css'
import './styles/controls.css'
import './app/shell.css'
import { App } from './app/app.tsx'
import { session } from './api/session-state.ts'
import { startSession } from './api/session.ts'
import { preloadPage } from './app/current-page.tsx'
import { startTheme } from './app/theme.ts'

startTheme()
startSession()
preloadPage()
const place = document.querySelector('#app')
if (place !== null) render(<App />, place)
// The placeholder of index.html stays until there is something to show instead.
effect(() => {
  if (session.value !== 'looking') document.querySelector('#shell')?.remove()
})
