/**
 * Payer and recipient of a charge in columns of their own. They were read out of the authorization's JSON, and one challenge
 * with U+0000 or half of a surrogate pair in it made that fail for the whole table. Rows with such an escape are read as
 * text. Older processes write rows without the columns, which `paidTotals` reads as text too.
 */
export const payers = `
set local lock_timeout = '30s';
set local statement_timeout = '30min';
alter table charges add column payer text;
alter table charges add column pay_to text;
update charges set
  payer = case when authorization_json::text ~ '\\\\u(0000|[dD][89a-fA-F])'
    then substring(authorization_json::text from
      '"payer":"([^"]*)","nonce":"[^"]*","validAfter":[0-9]+,"validBefore":[0-9]+,"paymentId":"[^"]*"}$')
    else authorization_json ->> 'payer' end,
  pay_to = case when authorization_json::text ~ '\\\\u(0000|[dD][89a-fA-F])'
    then substring(authorization_json::text from '"payTo":"([^"]*)"')
    else authorization_json -> 'terms' ->> 'payTo' end;
`
