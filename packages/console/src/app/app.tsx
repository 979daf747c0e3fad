/** The frame around every page: rail, header and content; or the sign-in page if there is no session. */
import { useEffect } from 'preact/hooks'
import { connectedHub, connectionStatus } from '../api/change-feed.ts'
import { session } from '../api/session-state.ts'
import { Icon } from '../components/icon.tsx'
import { SignInPage } from '../pages/sign-in/sign-in.tsx'
import { announcement } from './announce.ts'
import { ShortcutHelp } from './shortcut-help.tsx'
import { handleShortcut, isMac } from './shortcuts.ts'
import { CurrentPage } from './current-page.tsx'
import { Palette } from './palette.tsx'
import { openPalette } from './palette-state.ts'
import { ConfirmDialog } from './confirm-dialog.tsx'
import { confirmSignOut } from './confirm-sign-out.ts'
import { Rail } from './rail.tsx'
import { handleLinkClick, pageRoute } from './router.ts'
import { chooseTheme, isDark } from './theme.ts'
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
        Skip to content
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

/** Search, connection status, theme and sign-out. */
function Header() {
  const known = session.value
  return (
    <header class="row top">
      <button type="button" class="top-search" onClick={() => openPalette()}>
        <Icon name="search" />
        <span class="top-search-text">Search or go to…</span>
        <kbd>{isMac ? '⌘K' : 'Ctrl K'}</kbd>
      </button>
      <span class="grow" />
      <ConnectionIndicator />
      <button
        type="button"
        class="plain icon"
        aria-label={isDark.value ? 'Light theme' : 'Dark theme'}
        title={isDark.value ? 'Light theme' : 'Dark theme'}
        onClick={() => chooseTheme(isDark.value ? 'light' : 'dark')}
      >
        <Icon name={isDark.value ? 'sun' : 'moon'} />
      </button>
      <button
        type="button"
        class="plain icon"
        aria-label="Sign out"
        title={typeof known === 'object' ? `Sign out ${known.subject}` : 'Sign out'}
        onClick={() => void confirmSignOut()}
      >
        <Icon name="out" />
      </button>
    </header>
  )
}

const statusDisplay = {
  connecting: ['waiting', '◌', 'Connecting…'],
  live: ['done', '●', 'Live'],
  away: ['failed', '○', 'Disconnected, reconnecting…'],
} as const

function ConnectionIndicator() {
  const [tone, shape, word] = statusDisplay[connectionStatus.value]
  const title =
    connectionStatus.value === 'live'
      ? `Connected to hub ${connectedHub.value?.version ?? ''}. Changes appear immediately.`
      : 'The hub does not respond. The page reconnects automatically.'
  return (
    <span class={`live ${tone}`} title={title} role="status">
      <span aria-hidden="true">{shape}</span> {word}
    </span>
  )
}
