/** The frame around every page: rail, header and content; or the sign-in page if there is no session. */
import { useEffect } from 'preact/hooks'
import { session } from '../api/session-state.ts'
import { SignInPage } from '../pages/sign-in/sign-in.tsx'
import { announcement } from './announce.ts'
import { Header } from './header.tsx'
import { ShortcutHelp } from './shortcut-help.tsx'
import { handleShortcut } from './shortcuts.ts'
import { CurrentPage } from './current-page.tsx'
import { Palette } from './palette.tsx'
import { ConfirmDialog } from './confirm-dialog.tsx'
import { Rail } from './rail.tsx'
import { handleLinkClick, pageRoute } from './router.ts'
import './app.css'

export function App() {
  useEffect(() => {
    addEventListener('keydown', handleShortcut)
    document.addEventListener('click', handleLinkClick)
  }, [])
  return (
    <>
      {session.value === 'none' ? <SignInPage /> : session.value === 'looking' ? null : <AppFrame />}
      <p class="unseen" role="status" aria-live="polite">
        {announcement.value?.text}
      </p>
      {announcement.value?.isShown === true && (
        <p class="toast" aria-hidden="true">
          {announcement.value.text}
        </p>
      )}
    </>
  )
}

function AppFrame() {
  return (
    <div class="app-frame">
      <a class="skip" href="#content">
        Skip to the content
      </a>
      <Rail />
      <div class="app-content">
        <Header />
        <main id="content" tabIndex={-1} data-page={pageRoute.value.page}>
          <CurrentPage />
        </main>
      </div>
      <Palette />
      <ShortcutHelp />
      <ConfirmDialog />
    </div>
  )
}
