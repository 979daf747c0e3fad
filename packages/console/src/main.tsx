/** The console: one page, one session, one stream of changes. */
import { render } from 'preact'
import './styles/tokens.css'
import './styles/base.css'
import './styles/controls.css'
import { App } from './app/app.tsx'
import { startSession } from './api/session.ts'
import { fetchPage } from './app/open-page.tsx'
import { startTheme } from './app/theme.ts'

startTheme()
startSession()
fetchPage()
const place = document.querySelector('#app')
if (place !== null) render(<App />, place)
