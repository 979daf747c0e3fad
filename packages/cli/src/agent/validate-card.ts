/** What is wrong with a card: fields that the specification requires, and references within the card that lead nowhere. */
import { validateCard } from '@parley/a2a/internal'
import type { AgentCard, Violation } from '@parley/a2a'

/** `card` is the document as the client reads it; without it, only the document is checked. */
export function cardViolations(document: object, card: AgentCard | undefined): readonly Violation[] {
  const required = validateCard(document)
  return required.length > 0 || card === undefined
    ? required
    : [...interfaceViolations(card), ...securityViolations(card), ...skillViolations(card)]
}

function interfaceViolations({ supportedInterfaces }: AgentCard): readonly Violation[] {
  return supportedInterfaces.flatMap(({ url, protocolBinding, protocolVersion }, index) => {
    const name = `supportedInterfaces[${index}]`
    const isAddress = protocolBinding.toUpperCase() === 'GRPC' ? /^[^\s/]+/.test(url) : URL.canParse(url)
    return [
      ...(isAddress ? [] : [{ field: `${name}.url`, description: 'must be an absolute URL' }]),
      ...(/^\d+\.\d+$/.test(protocolVersion)
        ? []
        : [{ field: `${name}.protocolVersion`, description: 'must be Major.Minor' }]),
    ]
  })
}

function securityViolations({
  securityRequirements = [],
  securitySchemes = {},
  skills,
}: AgentCard): readonly Violation[] {
  const places = [
    { field: 'securityRequirements', requirements: securityRequirements },
    ...skills.map((skill, index) => ({
      field: `skills[${index}].securityRequirements`,
      requirements: skill.securityRequirements ?? [],
    })),
  ]
  return places.flatMap(({ field, requirements }) =>
    requirements.flatMap(({ schemes }, index) =>
      Object.keys(schemes)
        .filter((name) => !Object.hasOwn(securitySchemes, name))
        .map((name) => ({ field: `${field}[${index}]`, description: `names the undeclared scheme ${name}` })),
    ),
  )
}

function skillViolations({ skills }: AgentCard): readonly Violation[] {
  return skills.flatMap(({ id }, index) =>
    skills.findIndex((other) => other.id === id) === index
      ? []
      : [{ field: `skills[${index}].id`, description: `repeats the id ${id}` }],
  )
}
