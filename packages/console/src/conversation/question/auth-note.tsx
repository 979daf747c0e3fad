/** A task that waits for credentials: what it needs, where to get it, and what happens then. */
import { Icon } from '../../components/icon.tsx'
import { questionStrings } from '../strings.ts'
import type { AgentQuestion, AuthScheme } from './parse-question.ts'

export interface AuthNoteProps {
  readonly question: AgentQuestion
  readonly agent: string
  /** Another caller has to sign in. */
  readonly isReadOnly?: boolean
}

export function AuthNote({ question, agent, isReadOnly = false }: AuthNoteProps) {
  const { schemes, links } = question
  return (
    <div class="stack-small auth-note">
      <h3>
        <Icon name="key" /> {questionStrings.requiresAuthentication(agent)}
      </h3>
      {schemes.length > 0 && (
        <ul>
          {schemes.map((scheme) => (
            <SchemeLine key={scheme.name} scheme={scheme} />
          ))}
        </ul>
      )}
      {(isReadOnly ? [] : links).map((link) => (
        <p key={link}>
          <a href={link} target="_blank" rel="noopener noreferrer">
            {questionStrings.signInAt(new URL(link).host || link)}
          </a>
        </p>
      ))}
      {!isReadOnly && <p class="hint">{authHint(question)}</p>}
    </div>
  )
}

function authHint({ isInBand, links, schemes }: AgentQuestion): string {
  if (isInBand) return questionStrings.inBand
  const hasLink = links.length > 0 || schemes.some(({ link }) => link !== undefined)
  return hasLink ? questionStrings.outOfBand : questionStrings.outOfBandWithoutLink
}

function SchemeLine({ scheme }: { readonly scheme: AuthScheme }) {
  const { name, what, description, link } = scheme
  return (
    <li>
      <strong>{name}</strong>: {what}
      {description !== undefined && <> · {description}</>}
      {link !== undefined && (
        <>
          {' '}
          <a href={link} target="_blank" rel="noopener noreferrer">
            {new URL(link).host}
          </a>
        </>
      )}
    </li>
  )
}
