/** Search, connection status, theme and sign-out. */
import { connectedHub, connectionStatus } from '../api/change-feed.ts'
import { session } from '../api/session-state.ts'
import { Icon } from '../components/icon.tsx'
import { isMac } from './shortcuts.ts'
import { confirmSignOut } from './confirm-sign-out.ts'
import { openPalette } from './palette-state.ts'
import { chooseTheme, isDark } from './theme.ts'
import './header.css'

export function Header() {
  const known = session.value
  return (
    <header class="top">
      <button type="button" class="top-search" onClick={() => openPalette()}>
        <Icon name="search" />
        <span class="top-search-text">Search or go to …</span>
        <kbd>{isMac ? '⌘K' : 'Ctrl K'}</kbd>
      </button>
      <span class="grow" />
      <ConnectionIndicator />
      <button
        type="button"
        class="plain icon"
        aria-label={isDark.value ? 'Light colours' : 'Dark colours'}
        title={isDark.value ? 'Light colours' : 'Dark colours'}
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
  connecting: ['waiting', '◌', 'connecting'],
  live: ['done', '●', 'live'],
  away: ['failed', '○', 'hub away'],
} as const

function ConnectionIndicator() {
  const [tone, shape, word] = statusDisplay[connectionStatus.value]
  const title =
    connectionStatus.value === 'live'
      ? `What you see is what the hub knows (version ${connectedHub.value?.version})`
      : 'The hub does not answer. The page goes on by itself as soon as it does.'
  return (
    <span class={`live ${tone}`} title={title} role="status">
      <span aria-hidden="true">{shape}</span> {word}
    </span>
  )
}
