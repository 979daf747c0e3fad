/** Requirements of existing products, the source of docs/contributing/requirements.md. */

export interface Requirement {
  readonly id: string
  /** The requirement, in our words. */
  readonly text: string
  /** If the protocol differs or requirements conflict: what Parley does instead, and why. */
  readonly instead?: string
  /** Why no test covers it. Every other requirement needs at least one test. */
  readonly open?: string
}

export interface RequirementGroup {
  readonly title: string
  readonly about: string
  readonly requirements: readonly Requirement[]
}

export const requirement = (
  id: string,
  asked: string,
  more: Pick<Requirement, 'instead' | 'open'> = {},
): Requirement => ({
  id,
  text: asked,
  ...more,
})
