import { DescriptionList, DescriptionListItem, Flex, StatusTag, Text } from '@hubspot/ui-extensions'
import {
  costText,
  leftOutText,
  nextText,
  statusText,
  type Result,
  type TaskStatus,
} from './paydirt-client.ts'

const variants: Record<TaskStatus, 'success' | 'info' | 'warning' | 'danger' | 'default'> = {
  queued: 'info',
  looking_up: 'info',
  ready: 'info',
  written: 'success',
  unchanged: 'default',
  skipped: 'default',
  rejected: 'danger',
  parked: 'warning',
}

export function ResultView({ result }: { result: Result }) {
  const { status, reason, fields, costUsd, enrichedAt } = result
  const notBought = leftOutText(result)
  return (
    <Flex direction="column" gap="sm">
      <StatusTag variant={variants[status]}>{statusText[status]}</StatusTag>
      <DescriptionList direction="column">
        {[
          ...(reason ? [{ name: 'reason', label: 'Reason', value: reason }] : []),
          ...fields,
          { name: 'cost', label: 'Cost', value: costText(costUsd) },
          ...(notBought ? [{ name: 'left-out', label: 'Not bought', value: notBought }] : []),
          ...(enrichedAt
            ? [{ name: 'at', label: 'When', value: new Date(enrichedAt).toLocaleString() }]
            : []),
        ].map(({ name, label, value }) => (
          <DescriptionListItem key={name} label={label}>
            <Text>{value === '' ? 'cleared' : value}</Text>
          </DescriptionListItem>
        ))}
      </DescriptionList>
      <Text variant="microcopy">{nextText(result)}</Text>
    </Flex>
  )
}
