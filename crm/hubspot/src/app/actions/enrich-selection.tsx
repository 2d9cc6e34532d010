import {
  Alert,
  Button,
  Flex,
  hubspot,
  LoadingButton,
  ProgressBar,
  Select,
  Text,
  type BulkActionsContext,
} from '@hubspot/ui-extensions'
import { useEffect, useRef, useState } from 'react'
import {
  costText,
  createPaydirt,
  Problem,
  recipesOf,
  recordRef,
  statusText,
  sumUsd,
} from './paydirt-client.ts'
import { ProblemView } from './problem-view.tsx'
import { countBy, enrichSelection, type Tally } from './selection.ts'

interface Props {
  context: BulkActionsContext
  sleep?: (ms: number) => Promise<void>
}

/** The panel behind "Enrich selected". Requests nothing until its button is clicked. */
export function EnrichSelection({ context, sleep = realSleep }: Props) {
  const { objectTypeId, objectIds } = context.crm
  const recipes = recipesOf(context.variables?.['PAYDIRT_RECIPES'])
  const [recipe, setRecipe] = useState(recipes[0])
  const [phase, setPhase] = useState<'ready' | 'requesting' | 'requested'>('ready')
  const [tally, setTally] = useState<Tally>()
  const [problem, setProblem] = useState<Problem>()
  const stop = useRef(false)

  const begin = async () => {
    stop.current = false
    setProblem(undefined)
    setPhase('requesting')
    try {
      await enrichSelection({
        paydirt: createPaydirt({ url: context.variables?.['PAYDIRT_URL'], fetch: hubspot.fetch }),
        records: objectIds.map((objectId) => recordRef(objectTypeId, objectId)),
        recipe,
        sleep,
        isStopped: () => stop.current,
        onTally: setTally,
      })
    } catch (error) {
      setProblem(error instanceof Problem ? error : new Problem(String(error), 'Try again.'))
    }
    setPhase('requested')
  }

  useEffect(
    () => () => {
      stop.current = true
    },
    [],
  )

  const count = objectIds.length === 1 ? '1 record' : `${objectIds.length} records`
  return (
    <Flex direction="column" gap="md">
      <Text>
        Paydirt looks up {count} and fills blank fields. A lookup costs money unless its answer is already
        stored. The caps that are set in Paydirt apply.
      </Text>
      {problem && <ProblemView problem={problem} />}
      {recipes.length > 1 && phase === 'ready' && (
        <Select
          label="What to look up"
          name="recipe"
          value={recipe ?? ''}
          options={recipes.map((name) => ({ label: name, value: name }))}
          onChange={(value) => setRecipe(String(value))}
        />
      )}
      {tally && <TallyView tally={tally} />}
      {phase === 'requested' && !problem && (
        <Text variant="microcopy">
          Enrichment continues in the background; you can close this panel. Each record’s card shows its
          result.
        </Text>
      )}
      {phase !== 'requested' && (
        <LoadingButton variant="primary" loading={phase === 'requesting'} onClick={() => void begin()}>
          Enrich {count}
        </LoadingButton>
      )}
      {phase === 'requesting' && (
        <Button
          variant="secondary"
          onClick={() => {
            stop.current = true
          }}
        >
          Stop
        </Button>
      )}
    </Flex>
  )
}

function TallyView({ tally }: { tally: Tally }) {
  const { total, accepted, answers, failures, stopped } = tally
  const cost = costText(sumUsd(answers.map(({ costUsd }) => costUsd)))
  return (
    <Flex direction="column" gap="sm">
      <ProgressBar
        title="Requested"
        value={accepted + failures.length}
        maxValue={total}
        valueDescription={`${accepted + failures.length} of ${total}`}
        showPercentage
        {...(failures.length > 0 ? { variant: 'warning' } : {})}
      />
      {countBy(answers.map(({ status }) => status)).map(([status, count]) => (
        <Text key={status}>
          {statusText[status]}: {count}
        </Text>
      ))}
      <Text>Cost so far: {cost}</Text>
      {countBy(failures.map(({ problem }) => `${problem.message}\n${problem.advice}`)).map(
        ([text, count]) => (
          <Alert key={text} title={`${count} × ${text.split('\n')[0]}`} variant="warning">
            {text.split('\n')[1]}
          </Alert>
        ),
      )}
      {stopped && (
        <Text format={{ fontWeight: 'bold' }}>
          {stopped === 'by_hand' ? 'Stopped by you' : 'Stopped'}: {total - accepted - failures.length} records
          were not requested.
        </Text>
      )}
    </Flex>
  )
}

function realSleep(ms: number): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve, ms)
  })
}
