/**
 * The texts against which values are compressed: what many of them have in common, the rarest first. They are part of what is
 * stored: a value can be read with the very text it was written with, so none is ever changed or removed. A better one gets
 * a letter of its own.
 *
 * They were written from the documentation of the service and never taken from a ledger: a text that was learned from
 * answers would keep what `paydirt forget` has to erase.
 */
const answer = [
  '"education":[{"title":"","degree":"","field":"","start_date":"","end_date":"","logo_url":"https://media.profnet.com/","profnet_url":"https://www.profnet.com/school/"}],"honors_and_awards":[],',
  '"recommendations":[],"similar_profiles":[{"name":"","headline":"","profnet_url":"https://www.profnet.com/in/"}],',
  '"people_also_viewed":[{"name":"","headline":"","location":"","profnet_url":"https://www.profnet.com/in/"}],',
  '"recent_activities":[{"id":"","title":"","image_url":"https://media.profnet.com/","interaction":"Liked by ","profnet_url":"https://www.profnet.com/posts/"}],',
  '"bio":[{"url":"https://","title":""}],"matches":[{"type":"work_email","value":"","email":"","phone":"+1","status":"valid"}],',
  '{"name":"","headline":"Head of Director Manager Engineer at ","description":"","city":"","location":"","country_code":"","logo_url":"https://media.profnet.com/","image_url":null,"created_at":"20","profnet_uid":"","profnet_url":"https://www.profnet.com/in/","profnet_name":"","follower_size":,"connection_size":500,"education":[],"honors_and_awards":[],"bio":[],',
  '"company":{"location":"","company_name":"","profnet_url":"https://www.profnet.com/company/","profnet_name":""},',
  '"recommendations":[],"similar_profiles":[],"people_also_viewed":[],"recent_activities":[],',
  '"employment_history":[{"title":"","duration":" yrs  mos","logo_url":"https://media.profnet.com/","company_name":"","profnet_url":"https://www.profnet.com/company/","profnet_name":"","unformatted_description":"","positions":[{"meta":"","title":"","start_date":"Jan 20","end_date":"Present","location":"","subtitle":"Full-time","description_html":""}]}]}',
  '"jobs":[{"title":"","location":"","posted_at":"","url":"https://"}],"news":[{"title":"","date":"","url":"https://"}],"advertisements":[]',
  'Self-Employed Self-Owned Sole Proprietorship Partnership Educational Institution Government Agency Nonprofit Public Company Privately Held ',
  'Software Development Information Technology and Services Financial Services Hospital and Health Care Retail Manufacturing Construction Real Estate Marketing and Advertising ',
  '10,001+ employees 5,001-10,000 employees 1,001-5,000 employees 501-1,000 employees 201-500 employees 51-200 employees 11-50 employees 2-10 employees 1-10 employees',
  ' Inc. Ltd. LLC GmbH Ltda. S.A. B.V. AB Oy Co., Ltd. New York San Francisco London Berlin Paris Tokyo Singapore, California, Texas, US ',
  '{"title":null,"alumni":null,"alumni_information":null,"domain":".com","unique_domain":null,"company_url":"https://www..com","company_name":"","profnet_name":"","profnet_uid":"","profnet_url":"https://www.profnet.com/company/","industry":null,"description":null,"unformatted_description":"\\n       is  the  and  in  of  for  with ',
  '.\\n    ","company_size":,"company_size_printed":"","unformatted_company_size":"51-200 employees","company_type":null,"founded_year":null,"headquarters":null,"company_address":null,"company_addresses":[", US"],"unformatted_company_addresses":["\\n  , US\\n"],"company_address_directions":[{"directions_url":"https://maps.?q=%20%2C%20US"}],"country_code":"US","country_codes":["US","GB","DE"],"follower_size":,"logo_url":"https://logo./.com","image_url":null,"created_at":"2020-01-01T00:00:00.000Z","additional_information":null,"people":[],"affiliated_pages":[],"similar_companies":[],"recent_activities":[]}',
  '"people":[{"name":"","logo_url":"https://media.profnet.com/.jpg","profnet_url":"https://www.profnet.com/in/"}],"affiliated_pages":[{"title":"","location":"","subtitle":"","profnet_url":"https://www.profnet.com/company/"}],"similar_companies":[{"industry":"","location":"","company_name":"","profnet_url":"https://www.profnet.com/company/',
  '"}],"recent_activities":[{"date":"2021-01-01T00:00:00.000Z","time":"1mo","text":"","title":"","images":["https://media.profnet.com/post/.jpg"],"post_id":"7","post_url":"https://www.profnet.com/posts/7","likes_count":,"comments_count":,"tagged_people":null,"tagged_companies":null,"repost":{"images":null,"videos":null,"repost_id":"","repost_url":null,"repost_date":"","repost_text":"","repost_title":null,"tagged_users":null,"external_links":null,"repost_hangtags":null,"repost_followers":null,"tagged_companies":null}},{"date":"2020-01-01T00:00:00.000Z","time":"2mo","text":"","title":"","images":[],"post_id":"7","post_url":"https://www.profnet.com/posts/',
].join('')

/** The values of a patch without their names. */
const patch = [
  'Self-Employed","Self-Owned","Sole Proprietorship","Partnership","Educational Institution","Government Agency","Nonprofit","Public Company","Privately Held","',
  'Software Development","Information Technology and Services","Financial Services","Hospital and Health Care","Retail","Manufacturing","Construction","Real Estate","Marketing and Advertising","',
  ' Inc."," Ltd."," LLC"," GmbH"," Ltda."," S.A."," B.V."," AB"," Oy"," Co., Ltd.","New York","San Francisco","London","Berlin","Paris","Tokyo","Singapore",", California",", Texas",{"clear":true},true,"',
  'Head of ","Director ","Manager","Engineer","https://www.profnet.com/in/","@gmail.com","+1',
  ' is  the  and  in  of  for  with ","https://www.profnet.com/company/","GB","DE","FR","US",19,20,"1,0","https://www.',
  '.com",".com","',
].join('')

/** The terms that services ask for, and the names beside them. */
const authorization = [
  '"singleUse":{"realm":"","digest":"sha-256=","expiresAt":17,"header":"authorization"},"raw":{"challenge":{"id":"","realm":"","method":"stripe","intent":"charge","request":{"amount":"10000","currency":"usd","recipient":"","methodDetails":{"networkId":"","paymentMethodTypes":["card"],"chainId":,"credentialTypes":["authorization"],"decimals":6}},"expires":"20","digest":"sha-256="}}',
  '{"terms":{"protocol":"x402","domainName":"USDC","domainVersion":"2","transferMethod":"eip3009","paymentFlow":"after","version":2,"scheme":"exact","network":"eip155:84532","asset":"0x036CbD53842c5426634e7929541eC2318f3dCF7e","payTo":"0x',
  '{"terms":{"protocol":"x402","domainName":"USD Coin","domainVersion":"2","transferMethod":"eip3009","paymentFlow":"after","version":2,"scheme":"exact","network":"eip155:8453","asset":"0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913","payTo":"0x","maxTimeoutSeconds":300,"paymentIdentifier":false,"raw":{"x402Version":2,"accepted":{"scheme":"exact","network":"eip155:8453","amount":"10000","asset":"0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913","payTo":"0x","maxTimeoutSeconds":300,"extra":{"name":"USD Coin","version":"2"}},"resource":{"url":"https://","description":"","mimeType":"application/json"},"extensions":{"payment-identifier":{"info":{"required":false}}}}},"payer":"0x","nonce":"0x","validAfter":0,"validBefore":17,"paymentId":"pd_',
  '{"terms":{"protocol":"api_key","version":1,"scheme":"direct","network":"","asset":"credit","payTo":"","maxTimeoutSeconds":300,"domainName":"","domainVersion":"","transferMethod":"","paymentFlow":"after","paymentIdentifier":false,"raw":{}},"payer":"","nonce":"0x","validAfter":0,"validBefore":17,"paymentId":"pd_',
].join('')

const utf8 = (text: string) => new TextEncoder().encode(text)

/** By the first character of a packed text. */
export const dictionaries = { a: utf8(answer), p: utf8(patch), z: utf8(authorization) } as const
export type Dictionary = keyof typeof dictionaries
